import { type ChangedPlace, isAboutPeople } from '../../domain/audit.ts';
import type { Queryable } from '../../storage/database.ts';
import { type NullableColumns, withoutNulls } from '../../storage/rows.ts';

/** What has changed in a project after a change, the newest first: at most `limit` entries. Those about people are left out. */
export async function readChangesSince(
  db: Queryable,
  projectId: string,
  seq: number,
  limit: number,
): Promise<readonly ChangedPlace[]> {
  const rows = await db.query<NullableColumns<ChangedPlace>>(
    `SELECT action, target, (SELECT name FROM environments WHERE environments.id = environment_id) AS environment
      FROM audit_log WHERE project_id = $1 AND seq > $2 ORDER BY seq DESC LIMIT $3`,
    [projectId, seq, limit],
  );
  return rows.map(withoutNulls<ChangedPlace>).filter(({ action }) => !isAboutPeople(action));
}
