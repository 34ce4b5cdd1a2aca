import type { Cursor, Snapshot } from '../domain/change-log.ts';
import { StorageError } from '../domain/errors.ts';
import type { Database, Queryable } from './database.ts';
import { changeIdAt } from './log.ts';

/**
 * Reads everything that reads are served from in one snapshot of the database, so that `cursor` and the rows belong
 * together. Nothing is checked here: a damaged row must cost that row only, so the catalog looks at each.
 */
export function loadSnapshot(database: Database): Promise<Snapshot> {
  return database.snapshot(readAll, 'load');
}

async function readAll(reader: Queryable): Promise<Snapshot> {
  return {
    cursor: await readCursor(reader),
    projects: await reader.query('SELECT id, name FROM projects'),
    environments: await reader.query(
      'SELECT id, project_id AS "projectId", name, revision FROM environments WHERE deleted_at IS NULL',
    ),
    states: await reader.query(
      'SELECT environment_id AS "environmentId", flag_key AS "flagKey", state FROM flag_states',
    ),
    keys: await reader.query(
      `SELECT id, project_id AS "projectId", digest, environments,
        expires_at AS "expiresAt", revoked_at AS "revokedAt" FROM project_keys`,
    ),
  };
}

async function readCursor(reader: Queryable): Promise<Cursor> {
  const [feed] = await reader.query<{ epoch: string; seq: number }>(
    'SELECT epoch, seq FROM feed WHERE id = 1',
  );
  if (feed === undefined) {
    throw new StorageError('The database has lost the position of its log: restore it from a backup.');
  }
  return { ...feed, changeId: (await changeIdAt(reader, feed.seq)) ?? '' };
}
