import { defined } from '@halyard/protocol';
import { type AuditRow, redact } from '../../domain/redaction.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  BEGINNING,
  type Before,
  type Block,
  blockHash,
  commitmentsOf,
  commitmentTo,
  type EntryHash,
  type EntryKey,
  type EntryPlace,
  endOf,
  entryHash,
  entryHashesOf,
  parts,
} from './block.ts';
import {
  countEntries,
  readBlocks,
  readEnds,
  readEntries,
  readKeysBetween,
  readRedactedThrough,
} from './block-table.ts';

/** What is wrong in the audit log or its chain. */
export const PROBLEM_KINDS = [
  'changed',
  'missing',
  'inserted',
  'block-changed',
  'block-missing',
  'cut-off',
] as const;

/** Something that is wrong, from one entry or block to another. */
export interface Problem {
  readonly kind: (typeof PROBLEM_KINDS)[number];
  /** The first and the last entry; of blocks, the first and last entry that they are about. */
  readonly from: EntryPlace;
  readonly to: EntryPlace;
}

/** The end of the chain: it names every entry up to its `seq`, and all that they say. */
export interface Head {
  readonly seq: number;
  /** The hash of the last block, in hexadecimal digits. */
  readonly hash: string;
}

/** What one call has verified. */
export interface Verified {
  /** Entries and blocks that were compared. */
  readonly entries: number;
  readonly blocks: number;
  /** In the order of the log. */
  readonly problems: readonly Problem[];
  /** Whether the chain had the head that was asked for, in what this call has verified. */
  readonly hasHead: boolean;
  /** Where the next call continues; absent when all is verified. */
  readonly next?: Before;
  /** Below, only when all is verified. The end of the chain; absent while it has no block. */
  readonly head?: Head & { readonly chainedAt: number };
  /** Entries that are not chained yet. */
  readonly unchained?: number;
  /** The last entry from which personal data has been removed. */
  readonly redactedThrough?: number;
}

/** Where the log begins, for people. */
const FIRST: EntryPlace = { seq: 0, position: 0 };

/** Blocks that are compared at once, and the milliseconds after which a call answers. */
const STEP = { blocks: 20, answerMs: 2000 } as const;

/**
 * Compares the audit log with its chain, from the beginning or from where an earlier call has stopped. A head proves, if it was noted
 * elsewhere, that no one has made another chain since. (Spec: S24.2, S24.3)
 */
export async function verifyAudit(
  { store }: Pick<ManagementContext, 'store'>,
  { from = BEGINNING, head }: { readonly from?: Before; readonly head?: Head },
): Promise<Verified> {
  const endsAt = performance.now() + STEP.answerMs;
  const walk = new Walk(from, head);

  for (;;) {
    const isEnd = await store.read(async (db) => {
      const blocks = await readBlocks(db, walk.last.number, STEP.blocks);
      if (blocks.length > 0) await walk.compare(db, blocks);
      return blocks.length === 0 ? await walk.end(db) : undefined;
    });
    if (isEnd !== undefined) return { ...walk.result, ...isEnd };
    if (performance.now() > endsAt) return { ...walk.result, next: walk.last };
  }
}

/** One walk along the chain. */
class Walk {
  /** The last block that was compared. */
  last: Before;
  readonly #head: Head | undefined;
  readonly #problems: Problem[] = [];
  #chainedAt: number | undefined;
  #entries = 0;
  #blocks = 0;
  #hasHead = false;

  constructor(from: Before, head: Head | undefined) {
    this.last = from;
    this.#head = head;
  }

  get result() {
    return {
      entries: this.#entries,
      blocks: this.#blocks,
      problems: this.#problems,
      hasHead: this.#hasHead,
    };
  }

  /** Compares the next blocks with the entries that they cover. */
  async compare(db: Queryable, blocks: readonly Block[]): Promise<void> {
    const end = blocks.at(-1);
    if (end === undefined) return;

    const keys = await readKeysBetween(db, endOf(this.last), endOf(end));
    for (const block of blocks) {
      const end = endOf(block);
      const count = keys.findIndex((key) => isAfter(key, end));
      const own = keys.splice(0, count === -1 ? keys.length : count);
      const hashes = entryHashesOf(block);
      const first = hashes?.[0] && placeOf(hashes[0]);
      const isNext = this.#compareBlock(block, first);
      // What is before a block that follows a missing one belonged to that.
      const covered = isNext || first === undefined ? own : own.filter((key) => !isAfter(first, key));
      // Otherwise the block was changed, and does not say what its entries were.
      if (hashes !== undefined) await this.#compareEntries(db, block, { hashes, keys: covered });
      this.last = block;
    }
  }

  /** What is known once all blocks have been compared. */
  async end(db: Queryable) {
    const { number, hash, lastSeq } = this.last;
    const [ends, unchained] = [await readEnds(db), await countEntries(db, endOf(this.last))];
    // Each change has entries, so the two logs end with the same one.
    const known = Math.max(ends.audit, lastSeq);
    const [from, to] = [
      { seq: known + 1, position: 0 },
      { seq: ends.log, position: 0 },
    ];
    if (ends.log > known) this.#problems.push({ kind: 'cut-off', from, to });

    const chainedAt = this.#chainedAt ?? 0;
    const head = number === 0 ? undefined : { seq: lastSeq, hash, chainedAt };
    return { unchained, ...defined({ head, redactedThrough: await readRedactedThrough(db) }) };
  }

  /** Compares the block, which begins with the entry `from`, with the one before it; returns whether it is the next one. */
  #compareBlock(block: Block, from: EntryPlace = endOf(block)): boolean {
    const { number, hash } = this.last;

    this.#blocks++;
    this.#chainedAt = block.chainedAt;
    if (block.number !== number + 1)
      // What follows the missing block cannot be compared with it.
      this.#problems.push({ kind: 'block-missing', from: number === 0 ? FIRST : endOf(this.last), to: from });
    else if (blockHash(hash, block) !== block.hash)
      this.#problems.push({ kind: 'block-changed', from, to: endOf(block) });

    const asked = this.#head;
    if (asked?.seq === block.lastSeq && asked.hash === block.hash) this.#hasHead = true;
    return block.number === number + 1;
  }

  async #compareEntries(
    db: Queryable,
    block: Block,
    { hashes, keys }: { readonly hashes: readonly EntryHash[]; readonly keys: readonly EntryKey[] },
  ): Promise<void> {
    const { salt } = block;
    const commitments = commitmentsOf(block);
    const expected = new Map<string, { readonly hash: string; readonly commitment: string }>();
    for (const [index, each] of hashes.entries())
      expected.set(nameOf(placeOf(each)), { hash: each[2], commitment: commitments?.[index] ?? '' });

    const found = new Set<string>();
    const doubtful: AuditRow[] = [];
    for (const part of parts(keys)) {
      for (const entry of await readEntries(db, part)) {
        this.#entries++;
        const name = nameOf(entry);
        const right = expected.get(name);
        if (right !== undefined && !found.has(name) && isSame(entry, right, salt)) found.add(name);
        else doubtful.push(entry);
      }
    }

    // Of two entries in one place, the one that fits was found above.
    for (const entry of doubtful) {
      const name = nameOf(entry);
      const isExpected = expected.has(name) && !found.has(name);
      found.add(name);
      this.#note(isExpected ? 'changed' : 'inserted', entry);
    }

    for (const place of hashes.map(placeOf)) if (!found.has(nameOf(place))) this.#note('missing', place);
  }

  /** Adds to the problem before it, if it continues that. */
  #note(kind: Problem['kind'], { seq, position }: EntryPlace): void {
    const place = { seq, position };
    const before = this.#problems.at(-1);
    if (before?.kind === kind && kind === 'missing' && continues(before.to, place))
      this.#problems[this.#problems.length - 1] = { ...before, to: place };
    else this.#problems.push({ kind, from: place, to: place });
  }
}

/** Whether an entry is what the block says. Without a salt, nothing personal may be in it. */
function isSame(
  entry: AuditRow,
  { hash, commitment }: { readonly hash: string; readonly commitment: string },
  salt: string | undefined,
): boolean {
  const redacted = redact(entry);
  if (salt !== undefined) return entryHash(redacted, commitmentTo(entry, salt)) === hash;
  return JSON.stringify(redacted) === JSON.stringify(entry) && entryHash(entry, commitment) === hash;
}

function continues(place: EntryPlace, next: EntryPlace): boolean {
  if (next.seq === place.seq) return next.position === place.position + 1;
  return next.seq === place.seq + 1;
}

function placeOf([seq, position]: EntryHash): EntryPlace {
  return { seq, position };
}

function nameOf({ seq, position }: EntryPlace): string {
  return `${seq}-${position}`;
}

function isAfter(place: EntryPlace, other: EntryPlace): boolean {
  return place.seq > other.seq || (place.seq === other.seq && place.position > other.position);
}
