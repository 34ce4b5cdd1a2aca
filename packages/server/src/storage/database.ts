import type { CommittedRows, LogSession } from '../domain/change-log.ts';
import { ServiceError } from '../domain/errors.ts';

/** Something SQL can be sent to. Parameters are `$1`, `$2`, …; BIGINT columns come back as numbers. */
export interface Queryable {
  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]>;
}

/** A parameter of a statement. */
export type Parameter = string | number | null;

/** A statement with its parameters. */
export interface Statement {
  readonly text: string;
  readonly parameters?: readonly Parameter[];
}

/**
 * The purpose of a snapshot: one answer, for which a caller waits, or a load of everything, which may take as long as
 * its rows keep arriving.
 */
export type ReadExtent = 'answer' | 'load';

/** A database of either engine: both run the same SQL. */
export interface Database extends Queryable {
  /**
   * Runs one write transaction: commits when `work` resolves, rolls back when it rejects. SQLite begins it
   * IMMEDIATE; PostgreSQL uses READ COMMITTED with short lock and idle limits. Rejects with
   * {@link CommitUncertainError} when the connection was lost during COMMIT, and with `ReadOnlyDatabaseError` on a
   * standby. `work` may run again in a new transaction after a conflict with another
   * writer: it must have no other effects.
   */
  transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T>;
  /** Runs reads in one read-only snapshot (repeatable read). Default `answer`. */
  snapshot<T>(work: (reader: Queryable) => Promise<T>, extent?: ReadExtent): Promise<T>;
  /**
   * Runs `work`, which writes through another connection of this process, one at a time, and on SQLite between the
   * transactions of this connection. The followers are woken at its end.
   */
  yieldTo<T>(work: () => Promise<T>): Promise<T>;
  /** Opens the follower's own session with the change log. Rejects when the database is unreachable. */
  openLogSession(): Promise<SqlLogSession>;
  /**
   * Wakes the followers of this process after a commit: `committed` are its rows, which need not be read then. Without
   * rows, they read the log.
   */
  announce(committed?: CommittedRows): void;
  /** Ends every connection. Safe to call twice. */
  close(): Promise<void>;
}

/** One of the two engines. It translates parameters, transactions and wake-ups, nothing else. */
export interface OpenDatabase extends Database {
  readonly engine: 'sqlite' | 'postgres';
}

/**
 * SQL for a column that is 1 where a count is 1. Where the count is 0, PostgreSQL refuses the division, and nothing that was sent
 * with the statement runs, COMMIT included; SQLite returns NULL. Both become an {@link AssertionFailed}.
 */
export function asserted(count: string): string {
  return `1 / (${count})`;
}

/** What a statement {@link asserted} does not hold: the transaction was rolled back. */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';

  constructor(options?: ErrorOptions) {
    super('a statement asserted something that does not hold', options);
  }
}

/** A write transaction in progress. */
export interface WriteTransaction extends Queryable {
  /** Takes the engine's migration lock: one node migrates, the others wait. Held until the transaction ends. */
  lockForMigration(): Promise<void>;
  /** Runs statements in order, in one round trip. Returns the rows of each. */
  batch(statements: readonly Statement[]): Promise<readonly (readonly unknown[])[]>;
  /**
   * Adds a statement that runs after all others, just before COMMIT and in one round trip with it. `onRows` gets its rows
   * when it has run, which is before it is known that the transaction has committed. Throws as {@link checkTexts}.
   */
  atCommit(statement: Statement, onRows?: (rows: readonly unknown[]) => void): void;
  /** Makes the commit wake the followers of other processes: with NOTIFY on PostgreSQL; on SQLite they look by themselves. */
  wake(): void;
}

/**
 * The follower's session with the change log: one connection that carries the wake-ups, the heartbeat and the SQL that
 * reads the log. The heartbeat rejects after two seconds, on a standby that replays nothing after three; `pushed` is false behind a transaction pooler or on a standby,
 * where wake-ups do not arrive. A session that is closed by {@link close} is not lost.
 */
export interface SqlLogSession extends Queryable, Omit<LogSession, 'snapshot' | 'read'> {}

/** How long the outcome of an uncertain commit is looked up, and the pause between two attempts. */
const LOOK_UP = { patienceMs: 15_000, pauseMs: 250 } as const;

/**
 * COMMIT was sent and its answer never arrived: the transaction may or may not have committed, and its COMMIT may still be on
 * its way.
 */
export class CommitUncertainError extends Error {
  override readonly name = 'CommitUncertainError';
  /**
   * How the transaction ended; `undefined` while it may still commit, or where this database does not know of it. Rows that are
   * read after this answer agree with it.
   */
  readonly outcome: (asking: Queryable) => Promise<'committed' | 'aborted' | undefined>;

  constructor(message: string, outcome: CommitUncertainError['outcome'], options?: ErrorOptions) {
    super(message, options);
    this.outcome = outcome;
  }

  /** Asks until `ask` resolves. Rejects with this error when the database stays unreachable, or cannot say how it ended. */
  async settle<T>(ask: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + LOOK_UP.patienceMs;
    for (;;) {
      try {
        return await ask();
      } catch {
        // The database is still away, or the lost session has not ended; the caller gets the first cause.
        if (performance.now() > deadline) throw this;
        await Bun.sleep(LOOK_UP.pauseMs);
      }
    }
  }
}

/**
 * Refuses texts that would not be read back as they were written: with the character U+0000, which PostgreSQL cannot
 * store, or with an unpaired surrogate, which has no UTF-8. JSON texts write both as escapes. `invalid_argument`.
 */
export function checkTexts(parameters: readonly Parameter[]): void {
  for (const parameter of parameters) {
    if (typeof parameter !== 'string') continue;
    if (parameter.includes('\0')) throw unfit('the character U+0000');
    if (!parameter.isWellFormed()) throw unfit('an unpaired surrogate, such as "\\ud800"');
  }
}

function unfit(what: string): ServiceError {
  return new ServiceError('invalid_argument', `A text contains ${what}, which is not allowed: remove it.`);
}
