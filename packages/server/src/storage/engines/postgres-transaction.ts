import type pg from 'pg';
import { StorageError } from '../../domain/errors.ts';
import {
  CommitUncertainError,
  checkTexts,
  type Parameter,
  type Queryable,
  type ReadExtent,
  type Statement,
  type WriteTransaction,
} from '../database.ts';
import type { PreparedStatements } from './postgres-batch.ts';
import { isDestroyed, runBatch, runQuery, runScript, type TimeLimits } from './postgres-client.ts';
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
 * where there is a synchronous one). The transaction's id comes with them: a lost COMMIT is looked up by it.
 */
const BEGIN_WRITE: readonly Statement[] = [
  { text: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE' },
  {
    text: `SELECT set_config('lock_timeout', '3s', true),
      set_config('idle_in_transaction_session_timeout', '5s', true),
      set_config('statement_timeout', '${WRITE_TIMEOUT_MS}ms', true),
      CASE WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
        THEN set_config('synchronous_commit', 'on', true) END,
      pg_current_xact_id()::text AS id`,
  },
];

const beginRead = ({ timeoutMs }: TimeLimits) => `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = '30s';
  SET LOCAL statement_timeout = '${timeoutMs}ms'`;

const BEGIN_MIGRATION = `SET LOCAL lock_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = 0;
  SET LOCAL statement_timeout = 0`;

/** A statement time-out while COMMIT waits for a standby would turn into an acknowledgement without the standby. */
const WAIT_FOR_STANDBY = `set_config('statement_timeout', '0', true)`;

const COMMIT: readonly Statement[] = [{ text: `SELECT ${WAIT_FOR_STANDBY}` }, { text: 'COMMIT' }];

/** Wakes the followers when the transaction has committed, with the end of the log that it has locked. */
const WAKE_AND_COMMIT: readonly Statement[] = [
  {
    text: `SELECT ${WAIT_FOR_STANDBY}, pg_notify('${WAKE_CHANNEL}', seq::text) FROM feed WHERE id = 1`,
  },
  { text: 'COMMIT' },
];

/**
 * Fails for an id that the server has not given yet, as after a failover that lost it. Nothing is known of a transaction that
 * was lost in its only round trip.
 */
async function outcomeOf(asking: Queryable, id: string | undefined) {
  if (id === undefined) return undefined;
  const [row] = await asking.query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [
    id,
  ]);
  const status = row?.status;
  return status === 'committed' || status === 'aborted' ? status : undefined;
}

/** What one round trip at the end of a transaction carries at most: each has the time of one statement. */
const BATCH_LIMITS = { statements: 50, characters: 1024 * 1024 } as const;

/** Runs `work` in a write transaction on `client`. Rejects with {@link CommitUncertainError} when the connection is lost during COMMIT. */
export async function runWrite<T>(
  client: pg.Client,
  prepared: PreparedStatements,
  work: (transaction: WriteTransaction) => Promise<T>,
): Promise<T> {
  const open = new Transaction(client, { timeoutMs: WRITE_TIMEOUT_MS });
  open.beginLater(BEGIN_WRITE, prepared);

  const last: { readonly statement: Statement; readonly onRows?: (rows: readonly unknown[]) => void }[] = [];
  const transaction: WriteTransaction = {
    query: (text, parameters) => open.query(text, parameters),
    batch: (statements) => open.batch(statements),
    atCommit: (statement, onRows) => {
      // Here, and not on the way to COMMIT, after which every failure is of unknown outcome.
      checkTexts(statement.parameters ?? []);
      last.push({ statement, ...(onRows && { onRows }) });
    },
    wake: () => {
      open.ending = WAKE_AND_COMMIT;
    },
    lockForMigration: async () => {
      open.limits = { timeoutMs: MIGRATION_TIMEOUT_MS };
      await open.script(BEGIN_MIGRATION);
      await open.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    },
  };

  return open.readWrite(() => work(transaction), last);
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

/** A statement for the end of a transaction. */
interface LastStatement {
  readonly statement: Statement;
  readonly onRows?: (rows: readonly unknown[]) => void;
}

/** One transaction on one connection. Statements that are sent at the same time go one after the other. */
class Transaction {
  readonly #client: pg.Client;
  readonly #turnstile = new Turnstile();
  /** Statements that go before the next ones, in the same round trip. */
  #first: readonly Statement[] = [];
  #prepared: PreparedStatements | undefined;
  /** The server's id of a write transaction, once it has begun. */
  #id: string | undefined;
  #isOpen = false;
  limits: TimeLimits;
  /** What commits it. */
  ending = COMMIT;

  constructor(client: pg.Client, limits: TimeLimits) {
    this.#client = client;
    this.limits = limits;
  }

  async begin(text: string): Promise<void> {
    try {
      await this.#turnstile.pass(() => runScript(this.#client, { text, timeoutMs: BEGIN_TIMEOUT_MS }));
      this.#isOpen = true;
    } catch (error) {
      await this.#rollback();
      throw error;
    }
  }

  /** Begins with the first statement: one round trip less. */
  beginLater(statements: readonly Statement[], prepared: PreparedStatements): void {
    this.#first = statements;
    this.#prepared = prepared;
    this.#isOpen = true;
  }

  query<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return this.#turnstile.pass(async () => {
      this.#requireOpen();
      if (this.#first.length === 0) return runQuery<Row>(this.#client, { text, parameters, ...this.limits });
      const [result] = await this.#send([{ text, parameters }]);
      // `Row`: the caller wrote the SQL and knows its columns.
      return result?.rows as Row[];
    });
  }

  batch(statements: readonly Statement[]): Promise<readonly (readonly unknown[])[]> {
    return this.#turnstile.pass(async () => {
      this.#requireOpen();
      return (await this.#send(statements)).map(({ rows }) => rows);
    });
  }

  /** Runs several statements in one text. */
  script(text: string): Promise<void> {
    return this.#turnstile.pass(async () => {
      this.#requireOpen();
      await this.#send([]);
      await runScript(this.#client, { text, ...this.limits });
    });
  }

  /** Runs `work`, then the last statements, and commits; rolls back when any of it fails. */
  async readWrite<T>(work: () => Promise<T>, last: readonly LastStatement[]): Promise<T> {
    try {
      const result = await work();
      this.#isOpen = false;
      await this.#turnstile.pass(() => this.#commit(last));
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

  #requireOpen(): void {
    if (this.#isOpen) return;
    throw new StorageError('The transaction has ended: every query of it must be awaited inside.');
  }

  /** The first batch of a transaction also finds out a connection that went silent while it was idle. */
  async #send(statements: readonly Statement[]): Promise<readonly pg.QueryResult[]> {
    const first = this.#first;
    const all = [...first, ...statements];
    if (all.length === 0) return [];
    const limits = first.length > 0 ? { ...this.limits, silenceMs: BEGIN_TIMEOUT_MS } : this.limits;
    // Before it is sent: a batch that fails leaves nothing to begin again.
    this.#first = [];
    const results = await runBatch(this.#client, all, { ...limits, prepared: this.#prepared });
    this.#id ??= results[first.length - 1]?.rows[0]?.id;
    return results.slice(first.length);
  }

  /** The last of the statements travel with COMMIT; where there are very many, the others before it. */
  async #commit(last: readonly LastStatement[]): Promise<void> {
    const parts = [...partsOf(last)];
    const final = parts.pop() ?? [];
    for (const part of parts) report(part, await this.#send(part.map(({ statement }) => statement)));
    const results = await this.#sendCommit([...final.map(({ statement }) => statement), ...this.ending]);
    // A transaction in which a statement failed answers COMMIT with ROLLBACK.
    if (results.at(-1)?.command !== 'COMMIT')
      throw new Error('the transaction was rolled back: a statement in it had failed');
    report(final, results);
  }

  async #sendCommit(statements: readonly Statement[]): Promise<readonly pg.QueryResult[]> {
    try {
      return await this.#send(statements);
    } catch (error) {
      if (isRefusal(error)) throw error;
      const id = this.#id;
      throw new CommitUncertainError(
        'the connection was lost during COMMIT',
        (asking) => outcomeOf(asking, id),
        { cause: error },
      );
    }
  }

  /** Without an open transaction the server only warns. */
  async #rollback(): Promise<void> {
    const isBegun = this.#first.length === 0;
    if (isDestroyed(this.#client) || !isBegun) return;
    try {
      const query = { text: 'ROLLBACK', timeoutMs: ROLLBACK_TIMEOUT_MS };
      await this.#turnstile.pass(() => runQuery(this.#client, query));
    } catch {
      // The connection is destroyed now, and the server rolls back what it leaves; the first failure is reported.
    }
  }
}

function report(statements: readonly LastStatement[], results: readonly pg.QueryResult[]): void {
  for (const [index, { onRows }] of statements.entries()) onRows?.(results[index]?.rows ?? []);
}

function* partsOf(statements: readonly LastStatement[]): Generator<LastStatement[]> {
  let part: LastStatement[] = [];
  let characters = 0;
  for (const last of statements) {
    part.push(last);
    for (const value of last.statement.parameters ?? [])
      characters += typeof value === 'string' ? value.length : 8;
    if (part.length < BATCH_LIMITS.statements && characters < BATCH_LIMITS.characters) continue;
    yield part;
    part = [];
    characters = 0;
  }
  if (part.length > 0) yield part;
}
