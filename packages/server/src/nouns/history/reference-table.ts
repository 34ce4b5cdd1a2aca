import type { ReferencePlace } from '../../domain/audit.ts';
import { LOCK_END, referenceId } from '../../storage/author-check.ts';
import type { Queryable } from '../../storage/database.ts';
import type { UnloggedTx } from '../../storage/tx.ts';
import { type MadeChange, readOperationsUnder } from './audit-query.ts';

const DAY_MS = 86_400_000;

/** How long a reference stays closed, in milliseconds: no network and no proxy delivers a request so late. */
const KEPT_MS = DAY_MS;

/** The version of the schema that closed references came with. */
export const CLOSED_REFERENCES_SINCE = 15;

/** How long nodes of a version before that may still run beside new ones, in milliseconds (docs/operations/upgrade.md). */
const UPGRADE_MS = DAY_MS;

/** Steps of the schema that a new database gets are applied within this time of each other, in milliseconds. */
const TOGETHER_MS = 10_000;

/** The answer to closing a reference. */
export interface ClosedReference {
  /** The changes that were made under it before. */
  readonly changes: readonly MadeChange[];
  /** Whether none was made, and none will be. */
  readonly isClosed: boolean;
}

/** Whether the reference is closed. */
export async function isReferenceClosed(db: Queryable, place: ReferencePlace): Promise<boolean> {
  const text = 'SELECT 1 FROM closed_references WHERE id = $1';
  return (await db.query(text, [referenceId(place)])).length > 0;
}

/**
 * Closes a reference, unless changes were made under it: no commit of its actor under it succeeds from then on, on any node that
 * knows of closed references. The end of the log is locked: a commit before is found, and a later one finds the reference
 * closed (`AuthorCheck`).
 */
export async function takeReference(tx: UnloggedTx, place: ReferencePlace): Promise<ClosedReference> {
  await tx.query(LOCK_END);
  const changes = await readOperationsUnder(tx, place);
  if (changes.length > 0) return { changes, isClosed: false };

  const now = tx.now();
  await tx.query(
    'INSERT INTO closed_references (id, closed_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
    [referenceId(place), now],
  );
  return { changes, isClosed: !(await mayOlderNodesWrite(tx, now)) };
}

/** Nodes of older versions keep no references, and do not see that one is closed. */
async function mayOlderNodesWrite(db: Queryable, now: number): Promise<boolean> {
  const rows = await db.query<{ at: number }>(
    'SELECT applied_at AS at FROM halyard_schema WHERE version IN (1, $1) ORDER BY version',
    [CLOSED_REFERENCES_SINCE],
  );
  const [created = 0, since = now] = rows.map(({ at }) => at);
  return since - created > TOGETHER_MS && now - since < UPGRADE_MS;
}

/** Forgets references that were closed a day ago. `now` is in epoch milliseconds. */
export async function removeOldReferences(tx: UnloggedTx, now: number): Promise<void> {
  await tx.query('DELETE FROM closed_references WHERE closed_at < $1', [now - KEPT_MS]);
}
