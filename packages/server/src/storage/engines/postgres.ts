import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StorageError, StoreBusy } from '../../domain/errors.ts';
import {
  type FeedConnection,
  type OpenDatabase,
  type Parameter,
  type Queryable,
  type ReadExtent,
  ReadOnlyDatabaseError,
  type WriteTransaction,
} from '../database.ts';
import { checkServerVersion, clientConfig, isDestroyed, runQuery } from './postgres-client.ts';
import { isBusy, isReadOnly, isTransient, toOutage, toStorageError } from './postgres-errors.ts';
import { openPostgresFeed, type PostgresFeed } from './postgres-feed.ts';
import { runRead, runWrite } from './postgres-transaction.ts';

/** Which server to use, and how much of it. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?sslmode=…`; `sslmode` as libpq understands it. */
  readonly url: string;
  /** Connections for reads and writes at most, beside one for each feed. Default 5. */
  readonly poolSize?: number;
}

/** Attempts at one transaction that conflicts with others. */
const ATTEMPTS = 5;

/** How long a statement outside a transaction may take: less than a listener waits for an answer. */
const QUERY_TIMEOUT_MS = 8_000;

/** How long {@link OpenDatabase.close} waits for the server's confirmation. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Prepares the shared engine. The server may be down: connections open on demand, and each rejects
 * a server before PostgreSQL 15. Rejects with `StorageError` when the URL is not one.
 */
export async function openPostgres(options: PostgresOptions): Promise<OpenDatabase> {
  return new PostgresDatabase(options);
}

class PostgresDatabase implements OpenDatabase {
  readonly engine = 'postgres';
  readonly #url: string;
  readonly #pool: pg.Pool;
  readonly #feeds = new Set<PostgresFeed>();
  #isClosed = false;

  constructor({ url, poolSize = 5 }: PostgresOptions) {
    this.#url = url;
    // `pg.Client`: the pool only creates these.
    const onConnect = (client: pg.ClientBase) => checkServerVersion(client as pg.Client);
    this.#pool = new pg.Pool({ ...clientConfig(url), max: poolSize, onConnect });
    // A connection that dies while idle is replaced by the next use; one that dies in use fails that use. Without
    // these listeners either would end the process.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    const query = { text, timeoutMs: QUERY_TIMEOUT_MS, ...(parameters === undefined ? {} : { parameters }) };
    return this.#use((client) => runQuery<Row>(client, query)).catch((error: unknown) => {
      throw isReadOnly(error) ? readOnly(error) : error;
    });
  }

  async transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#use((client) => runWrite(client, work));
      } catch (error) {
        if (isReadOnly(error)) throw readOnly(error);
        if (isBusy(error))
          throw new StoreBusy('another writer holds a lock that this one needs', { cause: error });
        if (attempt === ATTEMPTS || !isTransient(error)) throw error;
        // A random pause, so that the same two do not collide again.
        await Bun.sleep(Math.random() * 20 * attempt);
      }
    }
  }

  snapshot<T>(work: (reader: Queryable) => Promise<T>, extent: ReadExtent = 'answer'): Promise<T> {
    return this.#use((client) => runRead(client, extent, work));
  }

  async openFeed(): Promise<FeedConnection> {
    if (this.#isClosed) throw new StorageError('The database is closed.');
    const feed = await openPostgresFeed(this.#url, (ended) => this.#feeds.delete(ended));
    this.#feeds.add(feed);
    // Closed while the feed was being opened.
    if (this.#isClosed) feed.close();
    return feed;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const feed of [...this.#feeds]) feed.close();
    // An unreachable server never confirms.
    await Promise.race([this.#pool.end(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw toOutage(error);
    }
  }

  /** Lends a connection to `work`, and keeps it only when it is still good. */
  async #use<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    try {
      return await work(client);
    } catch (error) {
      throw toStorageError(error);
    } finally {
      client.release(isDestroyed(client));
    }
  }
}

function readOnly(cause: unknown): ReadOnlyDatabaseError {
  const words = cause instanceof Error ? cause.message : String(cause);
  return new ReadOnlyDatabaseError(`this PostgreSQL is read-only, like a standby: ${words}`, {
    cause,
  });
}
