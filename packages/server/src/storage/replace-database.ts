import { Database as Sqlite } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { epochAfter, leapBetween } from '../domain/epoch.ts';
import { StorageError } from '../domain/errors.ts';
import { type BackupHeader, readBackupFile, syncFolder } from './backup-file.ts';
import { listTables, type Table } from './copy-tables.ts';
import type { OpenDatabase, Queryable } from './database.ts';
import {
  type Contents,
  copyAll,
  type DatabasePlace,
  finishCopy,
  LEFTOVERS,
  withTemporaryFile,
} from './database-copy.ts';
import { openSqlite } from './engines/sqlite.ts';
import { SqliteConnection } from './engines/sqlite-connection.ts';
import { acceptedVersion, databaseFile, migrate, openPostgresEngine, SCHEMA_VERSION } from './schema.ts';

/** Stops what a node would do by itself as soon as it starts with the restored database. */
type Settle = (database: OpenDatabase, createdAt: string) => Promise<void>;

/**
 * Replaces the database of a place with a backup, of either engine. Begins a new epoch and moves the revisions of all
 * environments beyond every one that was served, so that nodes and clients accept the restored flags as newer.
 * Migrates a backup of an older program. Rejects with {@link StorageError} while a node uses the database, when it holds
 * anything and `replace` is not set, and for a backup that cannot be read; the database is then as it was.
 */
export async function replaceDatabase(
  file: string,
  place: DatabasePlace,
  { replace, settle }: { readonly replace: boolean; readonly settle: Settle },
): Promise<Restored> {
  const target = databaseFile(place.data);
  const created =
    place.databaseUrl === undefined ? await mkdir(place.data, { recursive: true, mode: 0o700 }) : undefined;
  const beside = place.databaseUrl === undefined ? target : join(tmpdir(), 'halyard.db');

  const restored = withTemporaryFile(beside, async (path) => {
    const header = await readBackupFile(file, path);
    if (header.schema > SCHEMA_VERSION) {
      throw new StorageError(
        `${file} was made by a newer Halyard (${header.halyard}): restore it with that version.`,
      );
    }

    return await withTemporaryFile(beside, async (fresh) => {
      const prepare = (served: Served) =>
        prepareCopy(path, fresh, { served, settle: (copy) => settle(copy, header.createdAt) });
      const contents = await (place.databaseUrl === undefined
        ? replaceFile(target, fresh, { prepare, replace })
        : replaceTables(place.databaseUrl, fresh, { prepare, replace }));
      return { header, contents };
    });
  });

  return await restored.catch(async (error: unknown) => {
    if (created !== undefined) await removeEmpty(place.data, created);
    throw error;
  });
}

/** Removes a folder and those above it, up to `top`, as far as they are empty. */
async function removeEmpty(folder: string, top: string): Promise<void> {
  for (let path = resolve(folder); path.startsWith(resolve(top)); path = dirname(path)) {
    try {
      await rmdir(path);
    } catch {
      // Something else is in it: it stays.
      return;
    }
  }
}

/** The outcome of a restore. */
export interface Restored {
  readonly header: BackupHeader;
  readonly contents: Contents;
}

/** What the nodes of a database have served. */
interface Served {
  /** The epoch of its log; absent where there is no database yet. */
  readonly epoch?: string;
  /** The newest revision of each environment. */
  readonly environments: readonly { readonly id: string; readonly revision: number }[];
}

const NOTHING_SERVED: Served = { environments: [] };

interface Replacement {
  /** Makes the copy ready, given what the replaced database served. */
  readonly prepare: (served: Served) => Promise<Contents>;
  readonly replace: boolean;
}

/**
 * Copies the rows of an extracted backup into a new database, and makes that ready to be served. A file from elsewhere may
 * hold anything: its triggers, views and names of tables stay behind.
 */
async function prepareCopy(
  extracted: string,
  fresh: string,
  { served, settle }: { readonly served: Served; readonly settle: (copy: OpenDatabase) => Promise<void> },
): Promise<Contents> {
  using sqlite = new Sqlite(extracted, { readonly: true, strict: true });
  sqlite.run('PRAGMA trusted_schema = OFF');
  const connection = new SqliteConnection(sqlite);
  const source: Queryable = { query: async (text, parameters) => connection.run(text, parameters) };

  const copy = await openSqlite({ path: fresh });
  try {
    await migrate(copy, { upTo: await versionIn(source) });
    await requireSameTables(source, copy);
    await copyAll(source, copy);
    await migrate(copy);

    // Beyond every revision that was served, by the replaced database too, so that no client takes a new map for an old one.
    await copy.transaction(async (transaction) => {
      for (const { id, revision } of served.environments) {
        await transaction.query(
          'UPDATE environments SET revision = $1, guarded = $1 WHERE id = $2 AND revision < $1',
          [revision, id],
        );
      }

      const [{ epoch } = { epoch: '' }] = await transaction.query<{ epoch: string }>(
        'SELECT epoch FROM feed',
      );
      const next = epochAfter([epoch, served.epoch ?? '']);
      await transaction.query('UPDATE feed SET epoch = $1', [next]);
      await transaction.query('UPDATE environments SET revision = revision + $1, guarded = revision + $1', [
        leapBetween(epoch, next),
      ]);
    });

    await settle(copy);
  } catch (error) {
    await copy.close();
    throw error;
  }

  const { contents } = await finishCopy(copy, fresh);
  return contents;
}

async function versionIn(backup: Queryable): Promise<number> {
  const [row] = await backup.query<{ version: unknown }>(
    'SELECT max(version) AS version FROM halyard_schema',
  );
  const version = Number(row?.version);
  if (Number.isInteger(version) && version >= 1 && version <= SCHEMA_VERSION) return version;
  throw new StorageError('The backup has a schema that this program does not know.');
}

async function requireSameTables(backup: Queryable, ours: Queryable): Promise<void> {
  const [found, expected] = [await listTables(backup), await listTables(ours)];
  const namesIn = (tables: readonly Table[]) =>
    JSON.stringify(tables.map(({ name, columns }) => [name, [...columns].sort()]).sort());
  if (namesIn(found) !== namesIn(expected)) {
    throw new StorageError('The backup has other tables than Halyard: it was not made by "halyard backup".');
  }
}

async function replaceFile(
  target: string,
  path: string,
  { prepare, replace }: Replacement,
): Promise<Contents> {
  if (!existsSync(target)) return await placeFile(target, path, { prepare, replace });

  // Throws for a file of another program.
  await (await openSqlite({ path: target })).close();
  // Before the advice to add --replace: with that alone, the next attempt would be refused because of the node.
  lockWholeFile(target).close();
  const old = await openSqlite({ path: target });
  const served = await inspect(old, replace).finally(() => old.close());

  using _lock = lockWholeFile(target);
  const ready = await prepare(served);
  // The old file has no log beside it any longer: the lock wrote it back.
  await rename(path, target);
  await syncFolder(dirname(target));
  return ready;
}

/** Puts the file where no database is. */
async function placeFile(target: string, path: string, { prepare, replace }: Replacement): Promise<Contents> {
  const leftovers = LEFTOVERS.map((suffix) => target + suffix).filter((file) => existsSync(file));
  if (leftovers.length > 0 && !replace) {
    throw new StorageError(
      `There is ${leftovers.join(' and ')} without a database: add --replace to remove what is left of it.`,
    );
  }

  const ready = await prepare(NOTHING_SERVED);
  // SQLite would apply a log of the lost database to the restored one.
  for (const file of leftovers) await rm(file);
  await syncFolder(dirname(target));
  await rename(path, target);
  await syncFolder(dirname(target));
  return ready;
}

/** Takes the file for itself until the connection is closed, which succeeds only while no other process has it open. */
function lockWholeFile(path: string): Sqlite {
  const sqlite = new Sqlite(path, { readwrite: true });
  try {
    sqlite.run('PRAGMA journal_mode = DELETE');
    sqlite.run('PRAGMA locking_mode = EXCLUSIVE');
    sqlite.run('BEGIN EXCLUSIVE');
    return sqlite;
  } catch (cause) {
    sqlite.close();
    throw inUse(cause);
  }
}

async function replaceTables(
  url: string,
  path: string,
  { prepare, replace }: Replacement,
): Promise<Contents> {
  const database = await openPostgresEngine({ url, poolSize: 1 });
  try {
    // Nothing is written, the schema included, before the backup is ready and the database may be replaced.
    const ready = await prepare(await inspect(database, replace));
    await refuseRunningNodes(database);
    await migrate(database);

    const copy = await openSqlite({ path });
    try {
      // A node that starts just now sees the new epoch, and loads everything again.
      await copyAll(copy, database);
    } finally {
      await copy.close();
    }

    return ready;
  } finally {
    await database.close();
  }
}

/** What a database has served. Refuses one that is in use, and one that is not empty unless it may be replaced. */
async function inspect(database: OpenDatabase, replace: boolean): Promise<Served> {
  if (database.engine === 'postgres') await refuseRunningNodes(database);
  if ((await acceptedVersion(database, database)) === 0) return NOTHING_SERVED;
  const [used] = await database.query<{ rows: number }>(
    'SELECT (SELECT count(*) FROM change_log) + (SELECT count(*) FROM audit_log) AS rows',
  );
  if (Number(used?.rows) > 0 && !replace) {
    throw new StorageError('The database is not empty: add --replace to overwrite it, after a backup.');
  }

  const [end] = await database.query<{ epoch: string }>('SELECT epoch FROM feed');
  return {
    ...end,
    environments: await database.query<Served['environments'][number]>(
      'SELECT id, revision FROM environments',
    ),
  };
}

/** Refuses a database that nodes are connected to, after a moment in which connections that were just closed vanish. */
async function refuseRunningNodes(postgres: Queryable): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const others = await postgres.query(
      `SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'halyard' AND pid <> pg_backend_pid()`,
    );
    if (others.length === 0) return;
    if (attempt === 20) throw inUse();
    await Bun.sleep(100);
  }
}

function inUse(cause?: unknown): StorageError {
  return new StorageError('A node uses the database: stop all nodes first.', { cause });
}
