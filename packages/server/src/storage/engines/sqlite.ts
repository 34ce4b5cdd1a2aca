import { StorageError } from '../../domain/errors.ts';
import {
  checkTexts,
  type FeedConnection,
  type OpenDatabase,
  type Parameter,
  type Queryable,
  type WriteTransaction,
} from '../database.ts';
import { retryWhileBusy, SqliteConnection, waitWhileBusy } from './sqlite-connection.ts';
import { SqliteFeed, type SqliteFeedSource } from './sqlite-feed.ts';
import {
  checkIdentities,
  type FileIdentities,
  IN_MEMORY,
  identitiesOf,
  openSqliteFile,
} from './sqlite-file.ts';
import { Turnstile } from './turnstile.ts';

/** Where the embedded engine keeps its data. */
export interface SqliteOptions {
  /** The database file, made with its folder where missing; `:memory:` for a database that ends with `close`. */
  readonly path: string;
}

/** How long a read of the log waits for another process; the heartbeat must have its answer within two seconds. */
const FEED_PATIENCE_MS = 1_500;

/**
 * Opens the embedded engine. An acknowledged commit is on the disk (WAL, `synchronous=FULL`, checked at every open).
 * Rejects with `StorageError`, in words for the operator, when the file cannot be used.
 */
export async function openSqlite(options: SqliteOptions): Promise<OpenDatabase> {
  return new SqliteDatabase(options.path, new SqliteConnection(await openSqliteFile(options.path)));
}

/**
 * One connection and a queue: `bun:sqlite` is synchronous but a transaction's work is not, so nothing else may reach
 * the connection until it ends. Reads of the log have a connection of their own.
 */
class SqliteDatabase implements OpenDatabase {
  readonly engine = 'sqlite';
  readonly #path: string;
  readonly #connection: SqliteConnection;
  readonly #identities: FileIdentities;
  readonly #turnstile = new Turnstile();
  readonly #feeds = new Set<SqliteFeed>();
  #isClosed = false;

  constructor(path: string, connection: SqliteConnection) {
    this.#path = path;
    this.#connection = connection;
    this.#identities = identitiesOf(path);
  }

  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return this.#pass(async () => {
      checkIdentities(this.#identities);
      return waitWhileBusy(() => this.#connection.run<Row>(text, parameters));
    });
  }

  async transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    let wakes = false;
    const wake = async () => {
      wakes = true;
    };
    const result = await this.#pass(async () => {
      checkIdentities(this.#identities);
      // BEGIN IMMEDIATE has the only write lock, so there is nothing left to lock for a migration.
      const written = await this.#between('BEGIN IMMEDIATE', (reader) =>
        work({ query: reader.query, wake, lockForMigration: async () => {} }),
      );
      // A commit into a file that has been removed must not be acknowledged.
      checkIdentities(this.#identities);
      return written;
    });
    if (wakes) for (const feed of this.#feeds) feed.wake();
    return result;
  }

  snapshot<T>(work: (reader: Queryable) => Promise<T>): Promise<T> {
    return this.#pass(() =>
      this.#between('BEGIN', async (reader) => {
        // The first read takes the snapshot. It happens here, where a busy file can still be retried.
        await waitWhileBusy(() => this.#connection.run('SELECT count(*) FROM sqlite_master'));
        return work(reader);
      }),
    );
  }

  async openFeed(): Promise<FeedConnection> {
    if (this.#isClosed) throw new StorageError('The database is closed.');
    checkIdentities(this.#identities);
    const feed = new SqliteFeed(await this.#openFeedSource(), (ended) => this.#feeds.delete(ended));
    this.#feeds.add(feed);
    // Closed while the feed was being opened.
    if (this.#isClosed) feed.close();
    return feed;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const feed of [...this.#feeds]) feed.close();
    await this.#turnstile.pass(async () => this.#connection.close());
  }

  #pass<T>(work: () => Promise<T>): Promise<T> {
    return this.#turnstile.pass(() => {
      if (this.#isClosed) throw new StorageError('The database is closed.');
      return work();
    });
  }

  async #between<T>(begin: string, work: (reader: Queryable) => Promise<T>): Promise<T> {
    const connection = this.#connection;
    await waitWhileBusy(() => connection.run(begin));
    let isOpen = true;
    let failure: unknown;
    const query = async <Row>(text: string, parameters: readonly Parameter[] = []) => {
      if (!isOpen)
        throw new StorageError('The transaction has ended: every query of it must be awaited inside.');
      checkTexts(parameters);
      refuseAfter(failure);
      try {
        return connection.run<Row>(text, parameters);
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    try {
      const result = await work({ query });
      isOpen = false;
      refuseAfter(failure);
      connection.run('COMMIT');
      return result;
    } catch (error) {
      isOpen = false;
      this.#leaveTransaction();
      throw error;
    }
  }

  /** After a failure SQLite may or may not have rolled back by itself; the next caller must find it rolled back. */
  #leaveTransaction(): void {
    if (!this.#connection.sqlite.inTransaction) return;
    try {
      this.#connection.run('ROLLBACK');
    } catch {
      // ROLLBACK ends the transaction also when it fails; the error that led here is the one to report.
    }
  }

  async #openFeedSource(): Promise<SqliteFeedSource> {
    if (this.#path === IN_MEMORY) {
      // The data lives in the one connection, and all its commits are our own.
      return {
        query: (text, parameters) => this.query(text, parameters),
        dataVersion: () => 0,
        close: () => {},
      };
    }
    const connection = new SqliteConnection(await openSqliteFile(this.#path));
    connection.run('PRAGMA query_only = ON');
    return {
      query: async (text, parameters) => {
        checkIdentities(this.#identities);
        return retryWhileBusy(() => connection.run(text, parameters), FEED_PATIENCE_MS);
      },
      dataVersion: () =>
        connection.run<{ data_version: number }>('PRAGMA data_version')[0]?.data_version ?? 0,
      close: () => connection.close(),
    };
  }
}

/** SQLite only undoes the failed statement. Here it ends the transaction, as on PostgreSQL. */
function refuseAfter(failure: unknown): void {
  if (failure === undefined) return;
  throw new Error('the transaction was rolled back: a statement in it had failed', { cause: failure });
}
