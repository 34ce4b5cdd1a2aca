import type { AuditEntry } from '../../domain/audit.ts';
import type { Parameter, Queryable } from '../../storage/database.ts';
import { NOT_ABOUT_PEOPLE } from '../../storage/places.ts';
import { type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';
import { ENTRY_COLUMNS } from './audit-query.ts';

/** The place of an entry in the order in which entries are followed. */
export interface FollowedPlace {
  readonly seq: number;
  /** Which entry of its operation it is. */
  readonly position: number;
}

/** An entry with its place. */
export type FollowedEntry = AuditEntry & FollowedPlace;

/** Which entries are followed. */
export interface FollowFilter {
  /** Absent: of all projects, and of none. */
  readonly projectIds?: readonly string[];
  readonly withoutPeople: boolean;
}

/** Entries that one page looks through at most. */
const SCANNED = 2000;

/**
 * The entries after a place, oldest first, and how far this looked: `limit` entries, or {@link SCANNED}, or all there are. Rows get their `seq` under a lock
 * that is held until COMMIT, so a snapshot with an entry has every lower one, too, on PostgreSQL as well.
 */
export async function readFollowing(
  db: Queryable,
  after: FollowedPlace,
  { limit, projectIds, withoutPeople }: FollowFilter & { readonly limit: number },
): Promise<{ readonly entries: readonly FollowedEntry[]; readonly end?: FollowedPlace }> {
  const parameters: Parameter[] = [after.seq, after.position, SCANNED, limit];
  const conditions = withoutPeople ? [NOT_ABOUT_PEOPLE] : [];
  if (projectIds !== undefined) {
    if (projectIds.length === 0) return { entries: [] };
    conditions.push(`project_id IN (${placeholders(projectIds.length, parameters.length)})`);
    parameters.push(...projectIds);
  }

  const scan = `FROM audit_log WHERE seq >= $1 AND (seq, position) > ($1, $2) ORDER BY seq, position`;
  const rows = await db.query<NullableColumns<FollowedEntry>>(
    `SELECT ${ENTRY_COLUMNS}, position FROM (SELECT * ${scan} LIMIT $3) AS scanned
      ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`} ORDER BY seq, position LIMIT $4`,
    parameters,
  );
  const entries = rows.map(withoutNulls<FollowedEntry>);
  const last = entries.at(-1);
  if (entries.length === limit && last !== undefined) return { entries, end: last };

  const [end] = await db.query<FollowedPlace>(`SELECT seq, position ${scan} LIMIT 1 OFFSET $3`, [
    after.seq,
    after.position,
    SCANNED - 1,
  ]);
  return { entries, ...(end && { end }) };
}

/** The id of the entry at a place. */
export async function readIdAt(db: Queryable, { seq, position }: FollowedPlace): Promise<string | undefined> {
  const [entry] = await db.query<{ id: string }>(
    'SELECT id FROM audit_log WHERE seq = $1 AND position = $2 LIMIT 1',
    [seq, position],
  );
  return entry?.id;
}

/** The place of the newest entry; absent while there is none. */
export async function readNewest(db: Queryable): Promise<FollowedPlace | undefined> {
  const [entry] = await db.query<FollowedPlace>(
    'SELECT seq, position FROM audit_log ORDER BY seq DESC, position DESC LIMIT 1',
  );
  return entry;
}
