import { join } from 'node:path';
import { defined } from '@halyard/protocol';
import { epochAfter } from '../domain/epoch.ts';
import { ReadOnlyDatabaseError, StorageError } from '../domain/errors.ts';
import type { OpenDatabase, Queryable, WriteTransaction } from './database.ts';
import type { PostgresOptions } from './engines/postgres.ts';
import { openSqlite } from './engines/sqlite.ts';
import { MIGRATIONS } from './migrations.ts';

/** The schema this program reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The result of a migration. A new database comes from version 0. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** A migration that begins. */
export interface Migrating extends Migrated {
  /** Entries of the audit log, for the time that it will take. */
  readonly entries: number;
}

/** Sources of the times and ids of new rows. */
export interface MigrateOptions {
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Makes the random part of the first epoch's name. */
  readonly newId?: () => string;
  /** The version to stop at; by default, the newest. */
  readonly upTo?: number;
  /** Called before a database that is not new is migrated. */
  readonly onMigrating?: (migrating: Migrating) => void;
}

/** Which engine to open, and where. */
export interface EngineOptions {
  /** Folder of the embedded engine. */
  readonly data: string;
  /** PostgreSQL's address; absent for the embedded engine. */
  readonly databaseUrl?: string;
  readonly databasePoolSize: number;
  /** Called before the schema of a database that is not new is migrated. */
  readonly onMigrating?: (migrating: Migrating) => void;
  /** Called once the schema has been migrated. */
  readonly onMigrated?: (migrated: Migrated) => void;
}

/** The path of the embedded engine's file in a data folder. */
export function databaseFile(data: string): string {
  return join(data, 'halyard.db');
}

/** Opens the engine and brings its schema up to date. Rejects with `StorageError` when retrying cannot help. */
export async function openDatabase(options: EngineOptions): Promise<OpenDatabase> {
  const { data, databaseUrl: url, databasePoolSize: poolSize, onMigrating, onMigrated } = options;
  const database = await (url === undefined
    ? openSqlite({ path: databaseFile(data) })
    : openPostgresEngine({ url, poolSize }));
  try {
    const migrated = await migrate(database, defined({ onMigrating }));
    if (migrated !== undefined) onMigrated?.(migrated);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Loaded only when it is used: nodes on SQLite start without it. */
export async function openPostgresEngine(options: PostgresOptions): Promise<OpenDatabase> {
  const { openPostgres } = await import('./engines/postgres.ts');
  return openPostgres(options);
}

/**
 * Brings the database to {@link SCHEMA_VERSION}, all steps in one transaction under the engine's migration lock, so
 * that many nodes may start together. Writes nothing when the schema is current, so a read-only standby works.
 * Returns what this call migrated, or `undefined` when the schema was current or another node was faster.
 * Rejects with {@link StorageError} when a newer program has been here, and with {@link ReadOnlyDatabaseError} on a
 * standby of a database that is not migrated yet: a retry succeeds once the primary is migrated.
 */
export async function migrate(
  database: OpenDatabase,
  options: MigrateOptions = {},
): Promise<Migrated | undefined> {
  const version = await acceptedVersion(database, database);
  if (version === SCHEMA_VERSION) return undefined;
  try {
    return await database.transaction((transaction) => applySteps(database, transaction, options));
  } catch (cause) {
    if (!(cause instanceof ReadOnlyDatabaseError)) throw cause;
    throw new ReadOnlyDatabaseError(
      `The database has schema version ${version}, this program needs ${SCHEMA_VERSION}, and the database is ` +
        'read-only, as a standby is: start a node of this version on the primary, which migrates it. This node waits.',
      { cause },
    );
  }
}

async function applySteps(
  database: OpenDatabase,
  transaction: WriteTransaction,
  { now = Date.now, newId = () => crypto.randomUUID(), upTo = SCHEMA_VERSION, onMigrating }: MigrateOptions,
): Promise<Migrated | undefined> {
  await transaction.lockForMigration();
  const from = await acceptedVersion(database, transaction);

  if (from > 0 && from < upTo && onMigrating !== undefined) {
    const [log] = await transaction.query<{ entries: number }>('SELECT count(*) AS entries FROM audit_log');
    onMigrating({ from, to: upTo, entries: Number(log?.entries ?? 0) });
  }

  for (const [index, statements] of MIGRATIONS.entries()) {
    if (index < from || index >= upTo) continue;
    for (const each of statements) {
      if (typeof each === 'string') await transaction.query(each);
      else if (each.engine === database.engine) await transaction.query(each.statement);
    }

    const row = [index + 1, now()];
    await transaction.query('INSERT INTO halyard_schema (version, applied_at) VALUES ($1, $2)', row);
  }
  const endOfLog = 'INSERT INTO feed (id, epoch, seq) VALUES (1, $1, 0) ON CONFLICT (id) DO NOTHING';
  await transaction.query(endOfLog, [epochAfter([], newId())]);
  return from === upTo ? undefined : { from, to: upTo };
}

/** The database's schema version; 0 for an empty database. Rejects with {@link StorageError} for a newer one than ours. */
export async function acceptedVersion(database: OpenDatabase, queryable: Queryable): Promise<number> {
  const version = await schemaVersion(database, queryable);
  if (version <= SCHEMA_VERSION) return version;
  throw new StorageError(
    `The database has schema version ${version}, and this program knows versions up to ${SCHEMA_VERSION}: ` +
      'a newer Halyard has used it. Start that version or a later one, or restore a backup made before the upgrade.',
  );
}

async function schemaVersion(database: OpenDatabase, queryable: Queryable): Promise<number> {
  const tables = await queryable.query(TABLE_EXISTS[database.engine]);
  if (tables.length === 0) return 0;
  const [row] = await queryable.query<{ version: number | null }>(
    'SELECT max(version) AS version FROM halyard_schema',
  );
  return row?.version ?? 0;
}

/**
 * The one query that differs between the engines. On PostgreSQL a plain scan of the catalog, because
 * `to_regclass` may answer from before the wait for the migration lock.
 */
const TABLE_EXISTS: Record<OpenDatabase['engine'], string> = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'halyard_schema'`,
  postgres: `SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relname = 'halyard_schema' AND nspname = ANY (current_schemas(false))`,
};
