import type { Socket } from 'node:net';
import pg from 'pg';
import { StorageError, StoreOutage } from '../../domain/errors.ts';
import { parsePostgresUrl, type SessionTarget } from '../../domain/postgres-url.ts';
import { checkTexts, type Parameter, type Statement } from '../database.ts';
import { Batch, type PreparedStatements } from './postgres-batch.ts';
import { isRefusal, toOutage, toStorageError } from './postgres-errors.ts';

/** The oldest server that is supported, as PostgreSQL numbers its versions. */
const OLDEST_SERVER = 150_000;

const BIGINT_OID = 20;

/** Checks during the longest silence. */
const SILENT_TICKS = 4;

/** How long connecting may take. */
const CONNECT_TIMEOUT_MS = 5_000;

/** What pg's pool rejects with when none of its connections became free in {@link CONNECT_TIMEOUT_MS}; it has no code. */
const POOL_IN_USE = 'timeout exceeded when trying to connect';

/**
 * The servers of an address. One of them is used until connecting to it fails, then the next: after a failover that is
 * the promoted one. Throws {@link StorageError} for a bad address.
 */
export class ServerList {
  readonly target: SessionTarget;
  readonly #configs: readonly pg.ClientConfig[];
  #index = 0;

  constructor(address: string) {
    const servers = parsePostgresUrl(address);
    // Without the text itself: it may hold a password.
    if (servers === undefined)
      throw new StorageError(
        'The database URL is not valid: write postgres://user:password@host:5432/database.',
      );
    this.target = servers.target;
    this.#configs = servers.urls.map(clientConfig);
  }

  /** The settings of a connection to the server in use. */
  get config(): pg.ClientConfig {
    // The index stays within the list, which has at least one server.
    return this.#configs[this.#index] as pg.ClientConfig;
  }

  /**
   * Connects to the first server that `connect` accepts, beginning with the one in use. Rejects with the failure that may
   * pass if there is one, and otherwise with what an operator must repair.
   */
  async connect<Connection>(connect: (config: pg.ClientConfig) => Promise<Connection>): Promise<Connection> {
    const failures: unknown[] = [];
    while (failures.length < this.#configs.length) {
      const { config } = this;
      try {
        return await connect(config);
      } catch (error) {
        // It says nothing of the server.
        if (error instanceof Error && error.message === POOL_IN_USE)
          throw new StoreOutage('every connection to the database is in use', { cause: error });
        failures.push(toStorageError(error));
        // Another attempt at the same time may have moved on already.
        if (this.config === config) this.#index = (this.#index + 1) % this.#configs.length;
      }
    }
    throw failures.find((failure) => !(failure instanceof StorageError)) ?? failures[0];
  }
}

/**
 * The settings of every connection to the server of `url`. They work through a transaction pooler: no startup
 * options. `sslmode` means what it means to libpq.
 */
function clientConfig(url: string): pg.ClientConfig {
  return {
    connectionString: withLibpqTls(url),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'halyard',
    // BIGINT as numbers: seq, revisions and times stay far below 2^53. Set here and not globally, because other code may use pg.
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        // `never`: the signature of pg's parsers depends on the oid, which its types cannot express.
        (oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format as never)) as never,
    },
  };
}

/** How long a statement may take. */
export interface TimeLimits {
  /** From sending it to the end of its answer. */
  readonly timeoutMs: number;
  /** Longest time without a byte of the answer: a large one may take long, a lost connection is found out soon. */
  readonly silenceMs?: number;
}

/** A statement with the time it may take. */
export interface TimedQuery extends TimeLimits {
  readonly text: string;
  readonly parameters?: readonly Parameter[];
}

/**
 * Runs one statement. When it fails for any other reason than the server's refusal (a time-out, a lost connection),
 * the connection is destroyed, because its next answer could belong to this statement.
 */
export async function runQuery<Row>(client: pg.Client, query: TimedQuery): Promise<Row[]> {
  const result = await send(client, query);
  // `Row`: the caller wrote the SQL and knows its columns.
  return result.rows as Row[];
}

/** Runs several statements in one text, without parameters. Fails as {@link runQuery}. */
export async function runScript(client: pg.Client, query: TimedQuery): Promise<void> {
  await send(client, query);
}

/**
 * Runs statements in order in one round trip: all or none of what follows a failure runs, COMMIT included. Returns each
 * result; fails as {@link runQuery}.
 */
export async function runBatch(
  client: pg.Client,
  statements: readonly Statement[],
  { prepared, ...limits }: TimeLimits & { readonly prepared: PreparedStatements | undefined },
): Promise<readonly pg.QueryResult[]> {
  for (const { parameters = [] } of statements) checkTexts(parameters);
  return guarded(client, limits, () => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly pg.QueryResult[]>();
    const batch = new Batch(
      statements,
      (text) => prepared?.find(client, text),
      (error, results = []) => {
        if (error === undefined) return resolve(results);
        prepared?.forget(client, batch.unparsed);
        return reject(error);
      },
    );
    client.query(batch);
    // What pg does for a query of its own. Destroyed, the connection answers what is still open on it.
    const timer = setTimeout(() => reject(new Error('Query read timeout')), limits.timeoutMs);
    return promise.finally(() => clearTimeout(timer));
  });
}

async function send(client: pg.Client, query: TimedQuery): Promise<pg.QueryResult> {
  const { text, parameters, timeoutMs } = query;
  if (parameters !== undefined) checkTexts(parameters);
  const config = {
    text,
    query_timeout: timeoutMs,
    ...(parameters === undefined ? {} : { values: [...parameters] }),
  };
  return guarded(client, query, () => client.query(config));
}

async function guarded<T>(client: pg.Client, { silenceMs }: TimeLimits, run: () => Promise<T>): Promise<T> {
  const watch = silenceMs === undefined ? undefined : watchForSilence(client, silenceMs);
  try {
    return await run();
  } catch (error) {
    if (isRefusal(error)) throw error;
    destroy(client);
    throw toOutage(error);
  } finally {
    clearInterval(watch);
  }
}

/** Destroys the connection when nothing arrives on it for `silenceMs`, which fails what was asked on it. */
function watchForSilence(client: pg.Client, silenceMs: number): Timer {
  // `Socket`: pg connects over TCP, TLS or a Unix socket; its types are wider.
  const stream = client.connection.stream as Socket;
  let received = stream.bytesRead;
  let quietTicks = 0;
  // Several ticks, so that a moment in which this process itself was busy does not count as silence of the server.
  return setInterval(() => {
    quietTicks = stream.bytesRead === received ? quietTicks + 1 : 0;
    received = stream.bytesRead;
    if (quietTicks >= SILENT_TICKS)
      stream.destroy(new Error(`the server sent nothing for ${silenceMs / 1000} seconds`));
  }, silenceMs / SILENT_TICKS);
}

/**
 * Refuses a server that is too old with a {@link StorageError}, and one that is not of the kind that the address asks for
 * with a {@link StoreOutage}: it may be promoted.
 */
export async function checkServer(client: pg.Client, target: SessionTarget): Promise<void> {
  const text = `SELECT current_setting('server_version_num')::int AS number,
    current_setting('server_version') AS name, pg_is_in_recovery() AS "isStandby"`;
  const [server] = await runQuery<{ number: number; name: string; isStandby: boolean }>(client, {
    text,
    timeoutMs: CONNECT_TIMEOUT_MS,
  });
  if (server === undefined) return;
  const { number, name, isStandby } = server;
  if (number < OLDEST_SERVER)
    throw new StorageError(`The server is PostgreSQL ${name}: Halyard needs PostgreSQL 15 or later.`);
  if (target === 'any' || isStandby === (target === 'standby')) return;
  const place = `${client.host}:${client.port}`;
  throw new StoreOutage(
    isStandby
      ? `${place} is a standby, and the database URL asks for a primary`
      : `${place} is a primary, and the database URL asks for a standby`,
  );
}

/** Whether the connection was destroyed or lost its socket. */
export function isDestroyed(client: pg.Client): boolean {
  return client.connection.stream.destroyed;
}

/** Drops the connection without notifying the server, which may be unreachable. Safe to call twice. */
export function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}

function withLibpqTls(url: string): string {
  const parsed = new URL(url);
  // Left to itself, pg takes every sslmode for verify-full and prints a warning about it.
  if (!parsed.searchParams.has('sslmode')) return url;
  parsed.searchParams.set('uselibpqcompat', 'true');
  return parsed.href;
}
