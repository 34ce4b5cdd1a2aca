import { join } from 'node:path';
import type {
  Database,
  OpenDatabase,
  Parameter,
  Queryable,
  ReadExtent,
  SqlLogSession,
  WriteTransaction,
} from './database.ts';
import type { PostgresOptions } from './engines/postgres.ts';
import { openSqlite } from './engines/sqlite.ts';
import { type Migrated, migrate } from './schema.ts';

/** Which engine to open, and where. */
export interface EngineOptions {
  /** Folder of the embedded engine. */
  readonly data: string;
  /** PostgreSQL's address; absent for the embedded engine. */
  readonly databaseUrl?: string;
  readonly databasePoolSize: number;
  /** Called once the schema has been migrated. */
  readonly onMigrated?: (migrated: Migrated) => void;
}

/** The file of the embedded engine inside the data folder. */
const DATABASE_FILE = 'halyard.db';

/**
 * A database that is opened and migrated at its first use, and again at the next one when that failed: a node outlives
 * a database that is out of reach. Uses at the same time share one attempt. Each rejects with `StorageError` when
 * retrying cannot help, otherwise with the engine's error.
 */
export class LazyDatabase implements Database {
  readonly #options: EngineOptions;
  #attempt: Promise<OpenDatabase> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  async query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return (await this.#opened()).query(text, parameters);
  }

  async transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    return (await this.#opened()).transaction(work);
  }

  async snapshot<T>(work: (reader: Queryable) => Promise<T>, extent?: ReadExtent): Promise<T> {
    return (await this.#opened()).snapshot(work, extent);
  }

  async openLogSession(): Promise<SqlLogSession> {
    return (await this.#opened()).openLogSession();
  }

  /** Closes it if it was opened. */
  async close(): Promise<void> {
    const opened = await this.#attempt?.catch(() => undefined);
    await opened?.close();
  }

  #opened(): Promise<OpenDatabase> {
    this.#attempt ??= this.#open().catch((error: unknown) => {
      this.#attempt = undefined;
      throw error;
    });
    return this.#attempt;
  }

  async #open(): Promise<OpenDatabase> {
    const { data, databaseUrl: url, databasePoolSize: poolSize, onMigrated } = this.#options;
    const database = await (url === undefined
      ? openSqlite({ path: join(data, DATABASE_FILE) })
      : openPostgresEngine({ url, poolSize }));
    try {
      const migrated = await migrate(database);
      if (migrated !== undefined) onMigrated?.(migrated);
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  }
}

/** Loaded only when it is used: nodes on SQLite start without it. */
async function openPostgresEngine(options: PostgresOptions): Promise<OpenDatabase> {
  const { openPostgres } = await import('./engines/postgres.ts');
  return openPostgres(options);
}
