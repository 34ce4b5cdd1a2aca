import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '@halyard/protocol';
import pg from 'pg';
import type { CommittedRows, LogHead } from '../../domain/change-log.ts';
import { ReadOnlyDatabaseError, StorageError, StoreBusy } from '../../domain/errors.ts';
import {
  AssertionFailed,
  type OpenDatabase,
  type Parameter,
  type Queryable,
  type ReadExtent,
  type SqlLogSession,
  type WriteTransaction,
} from '../database.ts';
import { PreparedStatements } from './postgres-batch.ts';
import {
  checkServer,
  destroy,
  isDestroyed,
  runQuery,
  ServerList,
  type TimeLimits,
} from './postgres-client.ts';
import {
  isBusy,
  isFailedAssertion,
  isReadOnly,
  isRefusal,
  isTransient,
  toOutage,
  toStorageError,
  toUnwritable,
} from './postgres-errors.ts';
import { runRead, runWrite, WAKE_CHANNEL } from './postgres-transaction.ts';
import { StandbyProof, type StandbyState } from './standby-proof.ts';
import { Turnstile } from './turnstile.ts';

/** Which server to use, and how much of it. */
export interface PostgresOptions {
  /**
   * `postgres://user:password@host:port/database?sslmode=…`, with several hosts as `a:5432,b:5432`. `sslmode` and
   * `target_session_attrs` mean what they mean to libpq.
   */
  readonly url: string;
  /** Connections for reads and writes at most, beside one for each log session. Default 5. */
  readonly poolSize?: number;
}

/** Attempts at one transaction that conflicts with others. */
const ATTEMPTS = 5;

/** How long a statement outside a transaction may take: less than the HTTP listener waits for an answer. */
const QUERY_TIMEOUT_MS = 8_000;

/** How long {@link OpenDatabase.close} waits for the server's confirmation. */
const CLOSE_TIMEOUT_MS = 2_000;

/** How long connecting and the heartbeat may take: a silent session is found dead within this time. */
const SESSION_TIMEOUT_MS = 2_000;

/** Limits of a read of the log. One row can have 32 MB, so a read may take long while its bytes keep arriving. */
const READ_LIMITS: TimeLimits = { timeoutMs: 60_000, silenceMs: SESSION_TIMEOUT_MS };

const HEARTBEAT_LIMITS: TimeLimits = { timeoutMs: SESSION_TIMEOUT_MS };

/** How long until a standby is asked again that has not proven anything yet. */
const PROOF_PAUSE_MS = 50;

const HEAD = `SELECT epoch, seq, (SELECT change_id FROM change_log WHERE seq = $1) AS "changeId",
    EXISTS (SELECT 1 FROM pg_listening_channels() AS channel WHERE channel = '${WAKE_CHANNEL}') AS "isListening",
    CASE WHEN pg_is_in_recovery() THEN EXISTS (SELECT 1 FROM pg_stat_wal_receiver) END AS "isReceiving",
    extract(epoch FROM pg_last_xact_replay_timestamp())::float8 * 1000 AS "shownAt",
    extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8 * 1000 AS "shownAgeMs"
  FROM feed WHERE id = 1`;

interface Head extends Omit<StandbyState, 'isReceiving'> {
  readonly epoch: string;
  readonly seq: number;
  readonly changeId: string | null;
  readonly isListening: boolean;
  /** Only on a standby. */
  readonly isReceiving: boolean | null;
}

/**
 * Prepares the shared engine. The server may be down: connections open on demand, and each rejects
 * a server before PostgreSQL 15. Rejects with `StorageError` when the URL is not one.
 */
export async function openPostgres(options: PostgresOptions): Promise<OpenDatabase> {
  return new PostgresDatabase(options);
}

class PostgresDatabase implements OpenDatabase {
  readonly engine = 'postgres';
  readonly #servers: ServerList;
  readonly #pool: pg.Pool;
  readonly #sessions = new Set<PostgresLogSession>();
  readonly #yielding = new Turnstile();
  /** The server's processes behind our pool: what they notify of is announced here when their commit has been answered. */
  readonly #ownProcesses = new Set<number>();
  readonly #prepared = new PreparedStatements();
  #isClosed = false;

  constructor({ url, poolSize = 5 }: PostgresOptions) {
    const servers = new ServerList(url);
    this.#servers = servers;
    // The pool creates a client for each connection: with the settings of the server that is in use by then.
    const Client = class extends pg.Client {
      constructor() {
        super(servers.config);
      }
    };
    // `pg.Client`: the pool only creates these.
    const onConnect = (client: pg.ClientBase) => checkServer(client as pg.Client, servers.target);
    this.#pool = new pg.Pool({ ...servers.config, Client, max: poolSize, onConnect });
    // A connection that dies while idle is replaced by the next use; one that dies in use fails that use. Without
    // these listeners either would end the process.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
    this.#pool.on('connect', (client) => void this.#ownProcesses.add(processOf(client)));
    this.#pool.on('remove', (client) => void this.#ownProcesses.delete(processOf(client)));
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
        return await this.#use((client) => runWrite(client, this.#prepared, work));
      } catch (error) {
        if (isReadOnly(error)) throw readOnly(error);
        if (isFailedAssertion(error)) throw new AssertionFailed({ cause: error });
        if (isBusy(error))
          throw new StoreBusy('another writer holds a lock that this one needs', { cause: error });
        if (attempt === ATTEMPTS || !(isTransient(error) || this.#prepared.hasFailed(error)))
          throw toUnwritable(error);
        // A random pause, so that the same two do not collide again.
        await Bun.sleep(Math.random() * 20 * attempt);
      }
    }
  }

  snapshot<T>(work: (reader: Queryable) => Promise<T>, extent: ReadExtent = 'answer'): Promise<T> {
    return this.#use((client) => runRead(client, extent, work));
  }

  /** The server keeps this connection's transactions apart from those of `work`, and wakes the followers. */
  yieldTo<T>(work: () => Promise<T>): Promise<T> {
    return this.#yielding.pass(work);
  }

  async openLogSession(): Promise<SqlLogSession> {
    if (this.#isClosed) throw new StorageError('The database is closed.');
    const session = await openPostgresSession(this.#servers, {
      isOwn: (processId) => this.#ownProcesses.has(processId),
      onClose: (ended) => this.#sessions.delete(ended),
    });
    this.#sessions.add(session);
    // Closed while the session was being opened.
    if (this.#isClosed) session.close();
    return session;
  }

  announce(committed?: CommittedRows): void {
    for (const session of this.#sessions) session.wake(committed);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const session of [...this.#sessions]) session.close();
    // An unreachable server never confirms.
    await Promise.race([this.#pool.end(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#servers.connect(() => this.#pool.connect());
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

/** The server's process behind a connection. A pooler gives any number, with which no notification comes. */
function processOf(client: pg.PoolClient): number {
  // pg's types lack the property.
  return (client as unknown as { readonly processID: number }).processID;
}

function readOnly(cause: unknown): ReadOnlyDatabaseError {
  const words = cause instanceof Error ? cause.message : String(cause);
  return new ReadOnlyDatabaseError(`this PostgreSQL is read-only, like a standby: ${words}`, {
    cause,
  });
}

/** What a {@link PostgresLogSession} needs of its database. */
interface SessionOwner {
  /** Whether a process of the server is behind the database's own pool. */
  readonly isOwn: (processId: number) => boolean;
  /** Called once when the session has ended. */
  readonly onClose: (session: PostgresLogSession) => void;
}

/** Opens a follower's session. Rejects when no server is reachable and suitable. */
function openPostgresSession(servers: ServerList, owner: SessionOwner): Promise<PostgresLogSession> {
  return servers.connect(async (config) => {
    const client = new pg.Client({ ...config, connectionTimeoutMillis: SESSION_TIMEOUT_MS });
    const session = new PostgresLogSession(client, owner);
    try {
      await client.connect();
      await checkServer(client, servers.target);
      await session.listen();
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  });
}

/**
 * The follower's session on PostgreSQL: a separate connection, so that the heartbeat proves the same session that
 * wake-ups arrive on. Any failure ends it at once; it never tries to heal itself.
 */
class PostgresLogSession implements SqlLogSession {
  readonly #client: pg.Client;
  readonly #owner: SessionOwner;
  readonly #turnstile = new Turnstile();
  #onWake: (committed?: CommittedRows) => void = () => {};
  #onLost: ((cause: Error) => void) | undefined;
  #lostCause: Error | undefined;
  #isOpen = true;
  /** Present on a standby. */
  #standby: StandbyProof | undefined;
  /** The newest `seq` in a notification, and in the last heartbeat. */
  #heardSeq = 0;
  #seenSeq = 0;

  /** Takes over a client that is not connected yet. */
  constructor(client: pg.Client, owner: SessionOwner) {
    this.#client = client;
    this.#owner = owner;
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('the server closed the connection')));
    client.on('notification', ({ payload, processId }) => this.#hear(Number(payload), processId));
  }

  /** Subscribes to wake-ups. A standby refuses that; the session works without them. */
  async listen(): Promise<void> {
    try {
      await this.#run(HEARTBEAT_LIMITS, `LISTEN ${WAKE_CHANNEL}`);
    } catch (error) {
      // Refused, for example on a standby: head() reports `pushed: false`, and the follower polls.
      if (!isRefusal(error)) throw error;
    }
  }

  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return this.#runOrLose<Row>(READ_LIMITS, text, parameters);
  }

  /** On a standby, waits until it has once shown what it had received: before that it may be of any age. */
  async head(seq = 0): Promise<LogHead> {
    for (;;) {
      const head = await this.#ask(seq);
      if (head !== undefined) return head;
      await sleep(PROOF_PAUSE_MS);
    }
  }

  /** Returns `undefined` while the standby has not proven anything yet. */
  async #ask(asked: number): Promise<LogHead | undefined> {
    const askedAt = performance.now();
    const [row] = await this.#runOrLose<Head>(HEARTBEAT_LIMITS, HEAD, [asked]);
    if (row === undefined) throw new StorageError('The database has lost the position of its log.');
    const { epoch, seq, isReceiving } = row;
    const end = { epoch, seq, ...defined({ changeId: row.changeId ?? undefined }) };
    if (isReceiving !== null) {
      const provenAt = this.#proveStandby({ ...row, isReceiving }, askedAt);
      return provenAt === undefined ? undefined : { ...end, pushed: false, isCopy: true, provenAt };
    }
    // Promoted: now it takes the subscription that it refused.
    if (this.#standby !== undefined) await this.listen();
    this.#standby = undefined;
    return { ...end, pushed: row.isListening && !this.#isDeaf(seq) };
  }

  /** Rejects, and ends the session, while the standby may be older than its primary. */
  #proveStandby(state: StandbyState, askedAt: number): number | undefined {
    this.#standby ??= new StandbyProof();
    try {
      return this.#standby.take(state, askedAt);
    } catch (error) {
      this.#lose(error);
      throw error;
    }
  }

  /**
   * Whether wake-ups are swallowed: a pooler may keep our channel on a session that it does not connect us to. What the
   * last heartbeat saw must have been announced by now.
   */
  #isDeaf(seq: number): boolean {
    const isDeaf = this.#seenSeq > this.#heardSeq;
    if (this.#seenSeq === 0) this.#heardSeq = Math.max(this.#heardSeq, seq);
    this.#seenSeq = seq;
    return isDeaf;
  }

  onWake(callback: (committed?: CommittedRows) => void): void {
    this.#onWake = callback;
  }

  /** Reports a commit of this process. */
  wake(committed?: CommittedRows): void {
    if (this.#isOpen) this.#onWake(committed);
  }

  onLost(callback: (cause: Error) => void): void {
    this.#onLost = callback;
    if (this.#lostCause !== undefined) callback(this.#lostCause);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    destroy(this.#client);
    this.#owner.onClose(this);
  }

  async #runOrLose<Row>(limits: TimeLimits, text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    try {
      return await this.#run<Row>(limits, text, parameters);
    } catch (error) {
      this.#lose(error);
      throw error;
    }
  }

  #run<Row>(limits: TimeLimits, text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return this.#turnstile.pass(async () => {
      if (!this.#isOpen) throw this.#lostCause ?? new StorageError('The session to the log has ended.');
      const query = { text, ...limits, ...(parameters === undefined ? {} : { parameters }) };
      return runQuery<Row>(this.#client, query);
    });
  }

  /** A commit of this process comes with its rows, through {@link wake}. */
  #hear(seq: number, processId: number): void {
    if (!this.#isOpen) return;
    this.#heardSeq = Math.max(this.#heardSeq, seq);
    if (!this.#owner.isOwn(processId)) this.#onWake();
  }

  #lose(error: unknown): void {
    if (!this.#isOpen) return;
    this.#lostCause = error instanceof Error ? error : new Error('the session was lost', { cause: error });
    this.close();
    this.#onLost?.(this.#lostCause);
  }
}
