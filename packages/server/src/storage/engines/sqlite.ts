import { setImmediate as nextTurn } from 'node:timers/promises';
import { defined } from '@halyard/protocol';
import type { CommittedRows, LogHead } from '../../domain/change-log.ts';
import { StorageError } from '../../domain/errors.ts';
import {
  checkTexts,
  type OpenDatabase,
  type Parameter,
  type Queryable,
  type SqlLogSession,
  type Statement,
  type WriteTransaction,
} from '../database.ts';
import { FileIdentities, IN_MEMORY } from './file-identities.ts';
import {
  isBusy,
  retryWhileBusy,
  SqliteConnection,
  toUnwritable,
  waitWhileBusy,
} from './sqlite-connection.ts';
import { openSqliteFile } from './sqlite-file.ts';
import { Turnstile } from './turnstile.ts';

/** Where the embedded engine keeps its data. */
export interface SqliteOptions {
  /** The database file, made with its folder where missing; `:memory:` for a database that ends with `close`. */
  readonly path: string;
}

/** How long a read of the log waits for another process; the heartbeat must have its answer within two seconds. */
const LOG_PATIENCE_MS = 1_500;

/** How long statements of one transaction may follow one another before reads of flags have their turn. */
const SLICE_MS = 3;

/**
 * How often the file is checked for commits of other processes: often while they make some, and ten times a second where
 * none has for a while. Nothing says for certain that no other process has the file, and a revoked key must be known
 * within a second (S13.2). A check costs 2 microseconds, the wake-up of an idle process more.
 */
const POLL_MS = { amongCommits: 20, alone: 100 } as const;

/** After a commit of another process, the next one is expected for so long. */
const AMONG_COMMITS_MS = 30_000;

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
  readonly #turnstile = new Turnstile(nextTurn);
  readonly #sessions = new Set<SqliteLogSession>();
  #isClosed = false;

  constructor(path: string, connection: SqliteConnection) {
    this.#path = path;
    this.#connection = connection;
    this.#identities = new FileIdentities(path);
  }

  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return this.#pass(async () => {
      this.#identities.check();
      return waitWhileBusy(() => this.#connection.run<Row>(text, parameters));
    });
  }

  transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    return this.#pass(async () => {
      this.#identities.check();
      // BEGIN IMMEDIATE has the only write lock, so there is nothing left to lock for a migration.
      const writing = this.#between('BEGIN IMMEDIATE', async (reader) => {
        const { transaction, finish } = writer(reader);
        const done = await work(transaction);
        await finish();
        return done;
      });
      const result = await writing.catch((error: unknown) => {
        throw toUnwritable(error);
      });
      // A commit into a file that has been removed must not be acknowledged.
      this.#identities.check();
      return result;
    });
  }

  announce(committed?: CommittedRows): void {
    for (const session of this.#sessions) session.wake(committed);
  }

  yieldTo<T>(work: () => Promise<T>): Promise<T> {
    return this.#pass(() => work().finally(() => this.announce()));
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

  async openLogSession(): Promise<SqlLogSession> {
    if (this.#isClosed) throw new StorageError('The database is closed.');
    this.#identities.check();
    const session = new SqliteLogSession(await this.#openLogReader(), (ended) =>
      this.#sessions.delete(ended),
    );
    this.#sessions.add(session);
    // Closed while the session was being opened.
    if (this.#isClosed) session.close();
    return session;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const session of [...this.#sessions]) session.close();
    await this.#turnstile.pass(async () => this.#connection.close());
  }

  /** Statements are synchronous, so the event loop turns between one piece of work and the next, for the reads of flags. */
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
    let sliceEnds = performance.now() + SLICE_MS;

    const query = async <Row>(text: string, parameters: readonly Parameter[] = []) => {
      if (performance.now() > sliceEnds) {
        await nextTurn();
        sliceEnds = performance.now() + SLICE_MS;
      }

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

  async #openLogReader(): Promise<LogReader> {
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
        this.#identities.check();
        return retryWhileBusy(() => connection.run(text, parameters), LOG_PATIENCE_MS);
      },
      // Of the connection that writes: it does not count its own commits, whose rows the sessions have been handed.
      dataVersion: () =>
        this.#connection.run<{ data_version: number }>('PRAGMA data_version')[0]?.data_version ?? 0,
      close: () => connection.close(),
    };
  }
}

/** A write transaction over the open one, and what runs the statements that it keeps for its end. */
function writer({ query }: Queryable): { transaction: WriteTransaction; finish: () => Promise<void> } {
  const last: { statement: Statement; onRows?: (rows: readonly unknown[]) => void }[] = [];
  const run = ({ text, parameters }: Statement) => query<unknown>(text, parameters);

  return {
    transaction: {
      query,
      batch: async (statements) => {
        const results: (readonly unknown[])[] = [];
        for (const statement of statements) results.push(await run(statement));
        return results;
      },
      atCommit: (statement, onRows) => {
        checkTexts(statement.parameters ?? []);
        last.push({ statement, ...(onRows && { onRows }) });
      },
      wake: () => {},
      lockForMigration: async () => {},
    },
    finish: async () => {
      for (const { statement, onRows } of last) {
        const rows = await run(statement);
        onRows?.(rows);
      }
    },
  };
}

/** SQLite only undoes the failed statement. Here it ends the transaction, as on PostgreSQL. */
function refuseAfter(failure: unknown): void {
  if (failure === undefined) return;
  throw new Error('the transaction was rolled back: a statement in it had failed', { cause: failure });
}

/** The connection a {@link SqliteLogSession} reads through. */
interface LogReader extends Queryable {
  /** A number that changes when another process has committed. Throws when the file cannot be read. */
  dataVersion(): number;
  /** Ends what was opened for this session. */
  close(): void;
}

/**
 * The follower's session on SQLite. Commits of this process wake it through {@link SqliteLogSession.wake}, those of other
 * processes through a poll of the file's data version.
 */
class SqliteLogSession implements SqlLogSession {
  readonly #source: LogReader;
  readonly #onClose: (session: SqliteLogSession) => void;
  #timer: Timer;
  #version: number;
  /** When a commit of another process was last seen, on the clock of `performance.now()`. */
  #foreignAt = Number.NEGATIVE_INFINITY;
  #onWake: (committed?: CommittedRows) => void = () => {};
  #onLost: ((cause: Error) => void) | undefined;
  #lostCause: Error | undefined;
  #isOpen = true;

  /** `onClose` is called once when the session has ended for any reason. */
  constructor(source: LogReader, onClose: (session: SqliteLogSession) => void) {
    this.#source = source;
    this.#onClose = onClose;
    this.#version = source.dataVersion();
    this.#timer = this.#nextPoll();
  }

  async query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    if (!this.#isOpen) throw new StorageError('The session to the log has ended.');
    try {
      return await this.#source.query<Row>(text, parameters);
    } catch (error) {
      // A failed read means a damaged or lost file: streams can no longer be promised every change.
      this.#lose(error);
      throw error;
    }
  }

  async head(asked = 0): Promise<LogHead> {
    const [row] = await this.query<{ epoch: string; seq: number; changeId: string | null }>(
      `SELECT epoch, seq, (SELECT change_id FROM change_log WHERE seq = $1) AS "changeId"
      FROM feed WHERE id = 1`,
      [asked],
    );
    if (row === undefined) throw new StorageError('The database has lost the position of its log.');
    const { epoch, seq, changeId } = row;
    return { epoch, seq, pushed: true, ...defined({ changeId: changeId ?? undefined }) };
  }

  onWake(callback: (committed?: CommittedRows) => void): void {
    this.#onWake = callback;
  }

  onLost(callback: (cause: Error) => void): void {
    this.#onLost = callback;
    if (this.#lostCause !== undefined) callback(this.#lostCause);
  }

  /** Reports a commit of this process. */
  wake(committed?: CommittedRows): void {
    if (this.#isOpen) this.#onWake(committed);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#onClose(this);
    this.#source.close();
  }

  #nextPoll(): Timer {
    const isAmongCommits = performance.now() - this.#foreignAt < AMONG_COMMITS_MS;
    const poll = () => {
      this.#poll();
      if (this.#isOpen) this.#timer = this.#nextPoll();
    };
    return setTimeout(poll, isAmongCommits ? POLL_MS.amongCommits : POLL_MS.alone).unref();
  }

  #poll(): void {
    try {
      const version = this.#source.dataVersion();
      if (version === this.#version) return;
      this.#version = version;
      this.#foreignAt = performance.now();
      this.#onWake();
    } catch (error) {
      // Another process is recovering the file; the next poll will see the result.
      if (!isBusy(error)) this.#lose(error);
    }
  }

  #lose(error: unknown): void {
    if (!this.#isOpen) return;
    this.#lostCause =
      error instanceof Error ? error : new StorageError('The log cannot be read.', { cause: error });
    this.close();
    this.#onLost?.(this.#lostCause);
  }
}
