import { join } from 'node:path';
import type { Store } from '../domain/store.ts';
import type { Database } from './database.ts';
import type { PostgresOptions } from './engines/postgres.ts';
import { openSqlite } from './engines/sqlite.ts';
import { type Migrated, migrate } from './schema.ts';
import { SqlStore } from './store.ts';

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

/** An open database whose schema is current. */
export interface OpenDatabase {
  readonly database: Database;
  readonly store: Store;
}

/** The file of the embedded engine inside the data folder. */
const DATABASE_FILE = 'halyard.db';

/**
 * Opens the database when it is first needed, and again when that failed: a node outlives a database that is not
 * there yet. Callers at the same time share one attempt.
 */
export class DatabaseOpener {
  readonly #options: EngineOptions;
  #attempt: Promise<OpenDatabase> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** The open database. Rejects with `StorageError` for what no retry will mend, otherwise with the engine's error. */
  get(): Promise<OpenDatabase> {
    this.#attempt ??= this.#open();
    return this.#attempt;
  }

  /** Closes what has been opened. Safe to call twice. */
  async close(): Promise<void> {
    const opened = await this.#attempt?.catch(() => undefined);
    await opened?.database.close();
  }

  async #open(): Promise<OpenDatabase> {
    try {
      const { data, databaseUrl: url, databasePoolSize: poolSize } = this.#options;
      const database = await (url === undefined
        ? openSqlite({ path: join(data, DATABASE_FILE) })
        : openPostgresEngine({ url, poolSize }));
      try {
        const migrated = await migrate(database);
        if (migrated !== undefined) this.#options.onMigrated?.(migrated);
      } catch (error) {
        await database.close();
        throw error;
      }
      return { database, store: new SqlStore(database) };
    } catch (error) {
      this.#attempt = undefined;
      throw error;
    }
  }
}

/** Who runs on the embedded engine does not wait for the code of the other one. */
async function openPostgresEngine(options: PostgresOptions): Promise<Database> {
  const { openPostgres } = await import('./engines/postgres.ts');
  return openPostgres(options);
}

/** A store that opens its database when it is used, and fails as long as that fails. */
export function storeOf(opener: DatabaseOpener): Store {
  const people = async () => (await opener.get()).store.people;
  return {
    people: {
      reserveAttempt: async (buckets, limit) => (await people()).reserveAttempt(buckets, limit),
      refundAttempt: async (buckets) => (await people()).refundAttempt(buckets),
      touchSession: async (session, at) => (await people()).touchSession(session, at),
      offerSetup: async (invitation, digest) => (await people()).offerSetup(invitation, digest),
      prune: async (now, windowMs) => (await people()).prune(now, windowMs),
    },
    read: async (work) => (await opener.get()).store.read(work),
    commit: async (actor, work) => (await opener.get()).store.commit(actor, work),
    touchKeys: async (lastUsed) => (await opener.get()).store.touchKeys(lastUsed),
    touchAccessTokens: async (lastUsed) => (await opener.get()).store.touchAccessTokens(lastUsed),
  };
}
