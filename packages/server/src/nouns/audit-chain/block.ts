import { type AuditRow, redact } from '../../domain/redaction.ts';

/** Entries of one block at most: what a node reads and hashes while reads of flags wait. */
export const BLOCK_ENTRIES = 100;

/** Bytes of what these entries say at most, unless there is only one. */
const BLOCK_BYTES = 4 * 1024 * 1024;

/** The place of an entry in the audit log: the row of the change log, and which entry of its operation it is. */
export interface EntryPlace {
  readonly seq: number;
  readonly position: number;
}

/** An entry that is in the audit log. */
export interface EntryKey extends EntryPlace {
  readonly id: string;
  /** Of its texts before and after. */
  readonly bytes: number;
}

/** Splits entries into parts of the size of a block, to be read one after the other. */
export function* parts(keys: Iterable<EntryKey>): Generator<readonly EntryKey[]> {
  let part: EntryKey[] = [];
  let bytes = 0;
  for (const key of keys) {
    const isFull = part.length === BLOCK_ENTRIES || bytes + key.bytes > BLOCK_BYTES;
    if (isFull && part.length > 0) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(key);
    bytes += key.bytes;
  }
  if (part.length > 0) yield part;
}

/** The hash of one entry, with its place. */
export type EntryHash = readonly [seq: number, position: number, hash: string];

/**
 * A block of the chain: the entries from the end of the block before up to its last one, in the order of their places. Its hash covers
 * the hash of the block before it, so that none can be changed or left out without changing all that follow. (Spec: S19.1)
 */
export interface Block {
  /** Counts from 1. */
  readonly number: number;
  /** JSON text of a list of {@link EntryHash}: what the hash covers is the text. */
  readonly entries: string;
  /** The place of the last entry. */
  readonly lastSeq: number;
  readonly lastPosition: number;
  /** When the newest entry was written, and when the block was made; epoch milliseconds. */
  readonly newestAt: number;
  readonly chainedAt: number;
  readonly hash: string;
  /** With it, what is personal in the entries can be checked. Deleted together with that. */
  readonly salt?: string;
  /** In its place: JSON text of the list of commitments to what was removed, one for each entry. */
  readonly commitments?: string;
}

/** The block that a new one follows; absent before the first. */
export type Before = Pick<Block, 'number' | 'hash' | 'lastSeq' | 'lastPosition'>;

/** Where a chain begins. */
export const BEGINNING: Before = {
  number: 0,
  hash: '',
  lastSeq: Number.MIN_SAFE_INTEGER,
  lastPosition: -1,
};

/** Makes the block of these entries, which are in order and at least one. */
export function makeBlock(
  before: Pick<Before, 'number' | 'hash'>,
  entries: readonly AuditRow[],
  { salt, now }: { readonly salt: string; readonly now: number },
): Block {
  const last = entries.at(-1);
  if (last === undefined) throw new Error('a block needs entries');

  const hashes = entries.map((entry): EntryHash => {
    return [entry.seq, entry.position, entryHash(redact(entry), commitmentTo(entry, salt))];
  });
  const made = {
    number: before.number + 1,
    entries: JSON.stringify(hashes),
    lastSeq: last.seq,
    lastPosition: last.position,
    newestAt: Math.max(...entries.map(({ at }) => at)),
    chainedAt: now,
  };
  return { ...made, hash: blockHash(before.hash, made), salt };
}

/** The hash of a block, in hexadecimal digits. `previous`: that of the block before it. */
export function blockHash(
  previous: string,
  { number, entries, newestAt, chainedAt }: Pick<Block, 'number' | 'entries' | 'newestAt' | 'chainedAt'>,
): string {
  return sha256(['halyard-audit-block-1', number, previous, chainedAt, newestAt, entries], 'hex');
}

/** The hash of an entry without its personal data, and a commitment to what was removed. */
export function entryHash(redacted: AuditRow, commitment: string): string {
  return sha256(['halyard-audit-entry-1', ...valuesOf(redacted), commitment], 'base64url');
}

/** Says which entry it was to those who have the salt, and nothing to others. */
export function commitmentTo(entry: AuditRow, salt: string): string {
  return new Bun.CryptoHasher('sha256', salt).update(JSON.stringify(valuesOf(entry))).digest('base64url');
}

/** The values that are hashed, in an order that never changes. */
function valuesOf(entry: AuditRow) {
  const { id, seq, operation, position, actor, ip, note, reference, action } = entry;
  const { projectId, environmentId, target, before, after, at } = entry;
  return [
    id,
    seq,
    operation,
    position,
    actor,
    ip,
    note,
    reference,
    action,
    projectId,
    environmentId,
    target,
    before,
    after,
    at,
  ];
}

function sha256(values: readonly (string | number | null)[], encoding: 'hex' | 'base64url'): string {
  return Bun.SHA256.hash(JSON.stringify(values), encoding);
}

/** The hashes in a block; `undefined` if they are damaged. */
export function entryHashesOf({ entries }: Pick<Block, 'entries'>): readonly EntryHash[] | undefined {
  return listOf(entries, (item): item is EntryHash => {
    return (
      Array.isArray(item) && item.length === 3 && typeof item[0] === 'number' && typeof item[1] === 'number'
    );
  });
}

/** The commitments in a block; `undefined` if it has none, or they are damaged. */
export function commitmentsOf({ commitments }: Pick<Block, 'commitments'>): readonly string[] | undefined {
  return listOf(commitments ?? '', (item): item is string => typeof item === 'string');
}

function listOf<Item>(text: string, isItem: (item: unknown) => item is Item): readonly Item[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every(isItem) ? list : undefined;
  } catch {
    // Not JSON: damaged.
    return undefined;
  }
}

/** The place of the last entry of a block. */
export function endOf({ lastSeq, lastPosition }: Pick<Block, 'lastSeq' | 'lastPosition'>): EntryPlace {
  return { seq: lastSeq, position: lastPosition };
}
