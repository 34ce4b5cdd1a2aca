import type pg from 'pg';
import { StorageError } from '../../domain/errors.ts';
import {
  CommitUncertainError,
  type Parameter,
  type Queryable,
  type ReadExtent,
  type WriteTransaction,
} from '../database.ts';
import { isDestroyed, runQuery, runScript, type TimeLimits } from './postgres-client.ts';
import { isRefusal } from './postgres-errors.ts';
import { Turnstile } from './turnstile.ts';

/** The channel on which commits wake the followers. */
export const WAKE_CHANNEL = 'halyard_feed';

/** How long a transaction may take to begin: a connection that went silent while it was idle is found out here. */
const BEGIN_TIMEOUT_MS = 5_000;

/** How long one statement of a write may take. */
const WRITE_TIMEOUT_MS = 10_000;

/** How long one statement of a read may take. A load of everything may be large, and the link to it slow. */
const READ_LIMITS: Record<ReadExtent, TimeLimits> = {
  answer: { timeoutMs: 60_000 },
  load: { timeoutMs: 900_000, silenceMs: 10_000 },
};

/** How long a connection may take to become clean again. */
const ROLLBACK_TIMEOUT_MS = 2_000;

/** How long one step of a migration may take: it may have to index a large table. */
const MIGRATION_TIMEOUT_MS = 600_000;

/** The key of the advisory lock under which the schema is migrated: "HALY". */
const MIGRATION_LOCK = 0x48414c59;

/**
 * Settings hold for this transaction only, so that a pooler may reuse the session afterwards. The limits
 * keep a frozen node from holding the end of the log; a commit is acknowledged when it is on disk (and on the standby,
 * where there is a synchronous one).
 */
const BEGIN_WRITE = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
  SET LOCAL lock_timeout = '3s';
  SET LOCAL idle_in_transaction_session_timeout = '5s';
  SET LOCAL statement_timeout = '${WRITE_TIMEOUT_MS}ms';
  SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')`;

const beginRead = ({ timeoutMs }: TimeLimits) => `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = '30s';
  SET LOCAL statement_timeout = '${timeoutMs}ms'`;

const BEGIN_MIGRATION = `SET LOCAL lock_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = 0;
  SET LOCAL statement_timeout = 0`;

/** A statement time-out while COMMIT waits for a standby would turn into an acknowledgement without the standby. */
export const COMMIT = 'SET LOCAL statement_timeout = 0; COMMIT';

/** Runs `work` in a write transaction on `client`. Rejects with {@link CommitUncertainError} when the connection is lost during COMMIT. */
export async function runWrite<T>(
  client: pg.Client,
  work: (transaction: WriteTransaction) => Promise<T>,
): Promise<T> {
  const open = new Transaction(client, { timeoutMs: WRITE_TIMEOUT_MS });
  await open.begin(BEGIN_WRITE);
  const transaction: WriteTransaction = {
    query: (text, parameters) => open.query(text, parameters),
    wake: async (seq) => {
      await open.query(`SELECT pg_notify('${WAKE_CHANNEL}', $1)`, [String(seq)]);
    },
    lockForMigration: async () => {
      open.limits = { timeoutMs: MIGRATION_TIMEOUT_MS };
      await open.begin(BEGIN_MIGRATION);
      await open.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    },
  };
  return open.readWrite(() => work(transaction));
}

/** Runs `work` in a read-only snapshot on `client`. */
export async function runRead<T>(
  client: pg.Client,
  extent: ReadExtent,
  work: (reader: Queryable) => Promise<T>,
): Promise<T> {
  const limits = READ_LIMITS[extent];
  const open = new Transaction(client, limits);
  await open.begin(beginRead(limits));
  const reader: Queryable = { query: (text, parameters) => open.query(text, parameters) };
  return open.readOnly(() => work(reader));
}

/** One transaction on one connection. Statements that are sent at the same time go one after the other. */
class Transaction {
  readonly #client: pg.Client;
  readonly #turnstile = new Turnstile();
  #isOpen = false;
  limits: TimeLimits;

  constructor(client: pg.Client, limits: TimeLimits) {
    this.#client = client;
    this.limits = limits;
  }

  async begin(text: string): Promise<void> {
    try {
      await this.#script(text, BEGIN_TIMEOUT_MS);
      this.#isOpen = true;
    } catch (error) {
      await this.#rollback();
      throw error;
    }
  }

  query<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return this.#turnstile.pass(async () => {
      if (!this.#isOpen) {
        throw new StorageError('The transaction has ended: every query of it must be awaited inside.');
      }
      return runQuery<Row>(this.#client, { text, parameters, ...this.limits });
    });
  }

  /** Runs `work`, then commits; rolls back when either fails. */
  async readWrite<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#isOpen = false;
      await this.#commit();
      return result;
    } catch (error) {
      this.#isOpen = false;
      await this.#rollback();
      throw error;
    }
  }

  /** Runs `work`, then rolls back: a read has nothing to commit, so nothing more can fail. */
  async readOnly<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      this.#isOpen = false;
      await this.#rollback();
    }
  }

  async #commit(): Promise<void> {
    const results = await this.#sendCommit();
    // A transaction in which a statement failed answers COMMIT with ROLLBACK.
    if (results.at(-1)?.command === 'COMMIT') return;
    throw new Error('the transaction was rolled back: a statement in it had failed');
  }

  async #sendCommit(): Promise<readonly pg.QueryResult[]> {
    try {
      return await this.#script(COMMIT);
    } catch (error) {
      if (isRefusal(error)) throw error;
      throw new CommitUncertainError('the connection was lost during COMMIT', { cause: error });
    }
  }

  /** Without an open transaction the server only warns. */
  async #rollback(): Promise<void> {
    if (isDestroyed(this.#client)) return;
    try {
      const query = { text: 'ROLLBACK', timeoutMs: ROLLBACK_TIMEOUT_MS };
      await this.#turnstile.pass(() => runQuery(this.#client, query));
    } catch {
      // The connection is destroyed now, and the server rolls back what it leaves; the first failure is reported.
    }
  }

  #script(text: string, timeoutMs = this.limits.timeoutMs): Promise<readonly pg.QueryResult[]> {
    return this.#turnstile.pass(() => runScript(this.#client, { text, timeoutMs }));
  }
}
