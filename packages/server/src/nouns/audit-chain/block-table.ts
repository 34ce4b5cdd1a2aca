import type { AuditRow } from '../../domain/redaction.ts';
import type { Queryable } from '../../storage/database.ts';
import { STRETCH } from '../../storage/places.ts';
import { type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';
import type { UnloggedTx } from '../../storage/tx.ts';
import { BEGINNING, type Before, type Block, type EntryKey, type EntryPlace } from './block.ts';

const COLUMNS = `number, entries, last_seq AS "lastSeq", last_position AS "lastPosition", newest_at AS "newestAt",
  chained_at AS "chainedAt", hash, salt, commitments`;

const KEY_COLUMNS =
  'id, seq, position, COALESCE(octet_length(before), 0) + COALESCE(octet_length(after), 0) AS bytes';

/** The newest block, or the newest of those before the one with this number. */
export async function readLastBlock(db: Queryable, before = Number.MAX_SAFE_INTEGER): Promise<Before> {
  const [last] = await db.query<Before>(
    `SELECT number, hash, last_seq AS "lastSeq", last_position AS "lastPosition" FROM audit_blocks
      WHERE number < $1 ORDER BY number DESC LIMIT 1`,
    [before],
  );
  return last ?? BEGINNING;
}

/** Blocks after the one with this number, in order. */
export async function readBlocks(db: Queryable, after: number, limit: number): Promise<readonly Block[]> {
  const rows = await db.query<NullableColumns<Block>>(
    `SELECT ${COLUMNS} FROM audit_blocks WHERE number > $1 ORDER BY number LIMIT $2`,
    [after, limit],
  );
  return rows.map(withoutNulls<Block>);
}

/** Adds a block; returns whether no other node has added that one before. */
export async function insertBlock(
  tx: UnloggedTx,
  block: Required<Omit<Block, 'commitments'>>,
): Promise<boolean> {
  const { number, entries, lastSeq, lastPosition, newestAt, chainedAt, hash, salt } = block;
  const inserted = await tx.query(
    `INSERT INTO audit_blocks (number, entries, last_seq, last_position, newest_at, chained_at, hash, salt)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (number) DO NOTHING RETURNING number`,
    [number, entries, lastSeq, lastPosition, newestAt, chainedAt, hash, salt],
  );
  return inserted.length > 0;
}

/**
 * The keys of entries after a place, in order: at least `limit`, if there are as many, and then the rest of the last change. A change
 * can have tens of thousands of entries, which no index orders; read by their ids, the contents need not be sorted with them.
 */
export async function readEntryKeys(
  db: Queryable,
  after: EntryPlace,
  limit: number,
): Promise<readonly EntryKey[]> {
  const keys = await db.query<EntryKey>(
    `SELECT ${KEY_COLUMNS} FROM audit_log WHERE seq >= $1 AND (seq, position) > ($1, $2)
      ORDER BY seq, position LIMIT $3`,
    [after.seq, after.position, limit],
  );
  const last = keys.at(-1);
  if (last === undefined || keys.length < limit) return keys;

  const rest = await db.query<EntryKey>(
    `SELECT ${KEY_COLUMNS} FROM audit_log WHERE seq = $1 AND position > $2 ORDER BY position`,
    [last.seq, last.position],
  );
  return keys.concat(rest);
}

/** The keys of the entries after a place and up to another, in order. */
export function readKeysBetween(db: Queryable, after: EntryPlace, last: EntryPlace): Promise<EntryKey[]> {
  return db.query<EntryKey>(
    `SELECT ${KEY_COLUMNS} FROM audit_log WHERE seq >= $1 AND seq <= $3
      AND (seq, position) > ($1, $2) AND (seq, position) <= ($3, $4) ORDER BY seq, position, id`,
    [after.seq, after.position, last.seq, last.position],
  );
}

/** The entries with these keys, which are in the order of their places. */
export async function readEntries(db: Queryable, keys: readonly EntryKey[]): Promise<readonly AuditRow[]> {
  const [first, last] = [keys[0], keys.at(-1)];
  if (first === undefined || last === undefined) return [];
  return await db.query<AuditRow>(
    `SELECT id, seq, operation_seq AS operation, position, actor, ip, note, reference, action, project_id AS "projectId",
        environment_id AS "environmentId", target, before, after, at
      FROM audit_log WHERE (seq, position) >= ($1, $2) AND (seq, position) <= ($3, $4)
        AND id IN (${placeholders(keys.length, 4)}) ORDER BY seq, position, id`,
    [first.seq, first.position, last.seq, last.position, ...keys.map(({ id }) => id)],
  );
}

/** The end of the change log, and the change to which the newest entry belongs; 0 where there is none. */
export async function readEnds(db: Queryable): Promise<{ readonly log: number; readonly audit: number }> {
  const [ends] = await db.query<{ log: number; audit: number }>(
    `SELECT seq AS log, COALESCE((SELECT COALESCE(operation_seq, seq) FROM audit_log ORDER BY audit_log.seq DESC LIMIT 1), 0)
      AS audit FROM feed WHERE id = 1`,
  );
  return ends ?? { log: 0, audit: 0 };
}

/** How many entries are after a place. */
export async function countEntries(db: Queryable, after: EntryPlace): Promise<number> {
  const [found] = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM audit_log WHERE seq >= $1 AND (seq, position) > ($1, $2)',
    [after.seq, after.position],
  );
  return found?.count ?? 0;
}

/** Blocks whose personal data is kept although all their entries are older than `before`; the oldest first. */
export async function readRemovable(db: Queryable, before: number, limit: number): Promise<readonly Block[]> {
  const rows = await db.query<NullableColumns<Block>>(
    `SELECT ${COLUMNS} FROM audit_blocks WHERE salt IS NOT NULL AND newest_at < $1 ORDER BY number LIMIT $2`,
    [before, limit],
  );
  return rows.map(withoutNulls<Block>);
}

/** Keeps the commitments in place of the salt; returns whether no other node has done so before. */
export async function storeCommitments(tx: UnloggedTx, block: Block, commitments: string): Promise<boolean> {
  const stored = await tx.query(
    'UPDATE audit_blocks SET salt = NULL, commitments = $2 WHERE number = $1 AND salt IS NOT NULL RETURNING number',
    [block.number, commitments],
  );
  return stored.length > 0;
}

/** Gives the indexes by environment and actor all entries of the stretches of these two and of those between: their actors are about to change. */
export async function unfoldStretches(tx: UnloggedTx, first: EntryPlace, last: EntryPlace): Promise<void> {
  await tx.query(
    `UPDATE audit_log SET repeated = NULL
      WHERE seq >= $1 / ${STRETCH} * ${STRETCH} AND seq < ($2 / ${STRETCH} + 1) * ${STRETCH} AND repeated IS NOT NULL`,
    [first.seq, last.seq],
  );
}

/** Replaces the texts of an entry. */
export async function storeRedacted(tx: UnloggedTx, entry: AuditRow): Promise<void> {
  const { id, seq, position, actor, ip, note, reference, target, before, after } = entry;
  await tx.query(
    `UPDATE audit_log SET actor = $4, ip = $5, note = $6, reference = $7, target = $8, before = $9, after = $10
      WHERE seq = $1 AND position = $2 AND id = $3`,
    [seq, position, id, actor, ip, note, reference, target, before, after],
  );
}

/** The last entry from which personal data has been removed; absent where none has. */
export async function readRedactedThrough(db: Queryable): Promise<number | undefined> {
  const [found] = await db.query<{ seq: number | null }>(
    'SELECT max(last_seq) AS seq FROM audit_blocks WHERE salt IS NULL',
  );
  return found?.seq ?? undefined;
}
