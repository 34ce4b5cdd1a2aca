import type { ReferencePlace } from '../domain/audit.ts';
import type { ClosedReference } from '../domain/store.ts';
import { readOperationsUnder } from './audit-reader.ts';
import type { Queryable } from './database.ts';

const DAY_MS = 86_400_000;

/** How long a reference stays closed, in milliseconds: no network and no proxy delivers a request so late. */
const KEPT_MS = DAY_MS;

/** The version of the schema that closed references came with. */
export const CLOSED_REFERENCES_SINCE = 15;

/** How long nodes of a version before that may still run beside new ones, in milliseconds (docs/operations/upgrade.md). */
const UPGRADE_MS = DAY_MS;

/** Steps of the schema that a new database gets are applied within this time of each other, in milliseconds. */
const TOGETHER_MS = 10_000;

/** The id of a closed reference. */
export function referenceId({ actor, reference }: ReferencePlace): string {
  return `${reference} ${actor}`;
}

/** Whether the reference is closed. */
export async function isReferenceClosed(queryable: Queryable, place: ReferencePlace): Promise<boolean> {
  const text = 'SELECT 1 FROM closed_references WHERE id = $1';
  return (await queryable.query(text, [referenceId(place)])).length > 0;
}

/**
 * Closes a reference, unless changes were made under it. The transaction has locked the end of the log: a commit before this
 * one is found, and a later one finds the reference closed (`AuthorCheck`). `now` is in epoch milliseconds.
 */
export async function closeReference(
  transaction: Queryable,
  place: ReferencePlace,
  now: number,
): Promise<ClosedReference> {
  const changes = await readOperationsUnder(transaction, place);
  if (changes.length > 0) return { changes, isClosed: false };
  await transaction.query(
    'INSERT INTO closed_references (id, closed_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
    [referenceId(place), now],
  );
  return { changes, isClosed: !(await mayOlderNodesWrite(transaction, now)) };
}

/** Nodes of older versions keep no references, and do not see that one is closed. */
async function mayOlderNodesWrite(queryable: Queryable, now: number): Promise<boolean> {
  const rows = await queryable.query<{ at: number }>(
    'SELECT applied_at AS at FROM halyard_schema WHERE version IN (1, $1) ORDER BY version',
    [CLOSED_REFERENCES_SINCE],
  );
  const [created = 0, since = now] = rows.map(({ at }) => at);
  return since - created > TOGETHER_MS && now - since < UPGRADE_MS;
}

/** Forgets references that were closed a day ago. `now` is in epoch milliseconds. */
export async function pruneClosedReferences(database: Queryable, now: number): Promise<void> {
  await database.query('DELETE FROM closed_references WHERE closed_at < $1', [now - KEPT_MS]);
}
