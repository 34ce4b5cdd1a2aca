import type { Cursor } from '../domain/change.ts';
import type { Database, Queryable } from './database.ts';
import { changeIdAt } from './log.ts';
import { StorageError } from './storage-error.ts';

/**
 * Everything the read model is built from, as stored. Nothing is checked here: one damaged row must cost that row
 * only, so the catalog looks at each. `unknown` marks the columns whose damage it must expect.
 */
export interface StoredSnapshot {
  /** Where the log stood: follow it from here. */
  readonly cursor: Cursor;
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  /** Those that exist now. */
  readonly environments: readonly {
    readonly id: string;
    readonly projectId: string;
    readonly name: string;
    readonly revision: number;
  }[];
  readonly states: readonly {
    readonly environmentId: string;
    readonly flagKey: string;
    /** JSON text of a flag state. */
    readonly state: unknown;
    readonly revision: number;
  }[];
  /** Every key, also revoked and expired ones. */
  readonly keys: readonly {
    readonly id: string;
    readonly projectId: string;
    readonly name: string;
    readonly digest: unknown;
    /** JSON text of a list of environment names. */
    readonly environments: unknown;
    readonly expiresAt: unknown;
    readonly revokedAt: unknown;
  }[];
}

/** Reads it all in one snapshot of the database, so that `cursor` and the rows belong together. */
export function loadSnapshot(database: Database): Promise<StoredSnapshot> {
  return database.snapshot(async (reader) => ({
    cursor: await readCursor(reader),
    projects: await reader.query('SELECT id, name FROM projects'),
    environments: await reader.query(
      'SELECT id, project_id AS "projectId", name, revision FROM environments WHERE deleted_at IS NULL',
    ),
    states: await reader.query(
      'SELECT environment_id AS "environmentId", flag_key AS "flagKey", state, revision FROM flag_states',
    ),
    keys: await reader.query(
      `SELECT id, project_id AS "projectId", name, digest, environments,
        expires_at AS "expiresAt", revoked_at AS "revokedAt" FROM project_keys`,
    ),
  }));
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
