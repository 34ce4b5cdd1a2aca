import type { FlagMap } from '@halyard/protocol';
import type { FlagsClient, ReadyResult } from './client-types.ts';
import type { Connection } from './connection.ts';
import { acquireConnection, type Lease } from './connection-registry.ts';
import { FlagsError } from './errors.ts';
import { NO_FLAGS, reconcile } from './flags.ts';
import type { ClientStatus } from './health.ts';
import { Listeners } from './listeners.ts';
import { type ClientOptions, type FlagsChange, readOptions } from './options.ts';
import { type Platform, systemPlatform } from './platform.ts';
import { createReads } from './reads.ts';
import { createReporter } from './reporter.ts';

/** Makes a client for one environment. Does no work yet and never throws: see {@link FlagsClient}. */
export function createClient(options: ClientOptions): FlagsClient {
  return createClientOn(systemPlatform, options);
}

/** {@link createClient} with a clock, chance and network of the caller's. */
export function createClientOn(platform: Platform, options: ClientOptions): FlagsClient {
  const { target, bootstrap, error, onChange, ...settings } = readOptions(options, platform);
  const reporter = createReporter(platform.now, settings.onError, settings.logger);
  const changes = new Listeners<FlagsChange>(reporter);
  const statuses = new Listeners<ClientStatus>(reporter);
  const closed = closing();
  let lease: Lease | undefined;
  let deafen = () => {};
  let isTouched = false;
  let status: ClientStatus = bootstrap && !error ? 'stale' : 'connecting';
  changes.add(onChange);

  const source = {
    flags: bootstrap ?? NO_FLAGS,
    bootstrap,
    targetingKey: settings.targetingKey,
    reporter,
    touch: () => {
      if (!isTouched) begin();
    },
    isReady: () => status === 'ready',
    hasMap: () => lease?.connection.store.flags !== undefined || bootstrap !== undefined,
  };
  const reads = createReads(source);

  /** A failed load is no failure of a client that has flags to answer with. */
  const become = (next: ClientStatus) => {
    const seen = bootstrap && (next === 'failed' || next === 'connecting') ? 'stale' : next;
    if (seen === status || status === 'closed') return;
    status = seen;
    statuses.emit(seen);
  };
  const take = (flags: FlagMap, changed: readonly string[], revision: number | undefined) => {
    source.flags = flags;
    if (changed.length > 0) changes.emit({ changed, flags, ...(revision !== undefined && { revision }) });
  };
  const ear = (connection: Connection) => ({
    onMap: ({
      previous,
      flags,
      changed,
    }: {
      previous: FlagMap;
      flags: FlagMap;
      changed: readonly string[];
    }) => {
      const isSame = source.flags === previous;
      take(flags, isSame ? changed : reconcile(source.flags, flags).changed, connection.store.revision);
    },
    onStatus: become,
    onError: reporter.report,
  });
  const begin = () => {
    isTouched = true;
    if (settings.isKeyInPage)
      reporter.warn(
        'page',
        'a project key is a secret and does not belong in a page; see @halyard/client/handler',
      );
    if (error) {
      // Not during the caller's read.
      queueMicrotask(() => {
        become('failed');
        reporter.report(error);
      });
      return;
    }
    lease = acquireConnection(target);
    const { connection } = lease;
    const { store, health, listeners } = connection;
    const mine = ear(connection);
    listeners.add(mine);
    deafen = () => listeners.delete(mine);
    if (store.flags) take(store.flags, reconcile(source.flags, store.flags).changed, store.revision);
    become(health.status);
    connection.start();
  };

  const ready: FlagsClient['ready'] = async (wait) => {
    source.touch();
    if (status === 'closed') return failed(closedError());
    if (error) return failed(error);
    const connection = lease?.connection as Connection; // `touch` made it: there is no error and no end
    const { store, health } = connection;
    if (store.flags) return { status: 'ready' };
    if (bootstrap) return { status: 'bootstrapped' };
    const settled = target.mode === 'manual' ? loadOnce(connection) : health.settled;
    const timeoutMs = wait?.timeoutMs;
    await firstOf(
      platform,
      typeof timeoutMs === 'number' ? timeoutMs : settings.readyTimeoutMs,
      wait?.signal,
      [settled, closed.promise],
    );
    if (store.flags) return { status: 'ready' };
    if (closed.isDone()) return failed(closedError());
    if (health.status === 'failed') return failed(connection.lastError);
    return {
      status: 'timeout',
      error: connection.lastError ?? new FlagsError('timeout', 'no flags in time'),
    };
  };

  const client: FlagsClient = {
    ...reads,
    environment: target.environment,
    get status() {
      return status;
    },
    get revision() {
      return lease?.connection.store.revision;
    },
    ready,
    onChange: (listener, filter) => {
      source.touch();
      const keys = Array.isArray(filter?.keys) ? new Set<string>(filter.keys) : undefined;
      const heard = keys
        ? (change: FlagsChange) =>
            change.changed.some((key) => keys.has(key)) ? listener(change) : undefined
        : listener;
      return changes.add(heard, filter?.signal);
    },
    onStatus: (listener, filter) => {
      source.touch();
      return statuses.add(listener, filter?.signal);
    },
    refresh: async () => {
      source.touch();
      if (status === 'closed') reporter.report(closedError());
      if (status === 'closed' || !lease) return false;
      return (await lease.connection.load()).isCurrent;
    },
    toBootstrap: () => {
      source.touch();
      return { environment: target.environment, flags: { ...source.flags } };
    },
    close: async () => {
      if (closed.isDone()) return;
      isTouched = true;
      become('closed');
      closed.finish();
      deafen();
      lease?.release();
      changes.clear();
      statuses.clear();
    },
    [ASYNC_DISPOSE]: async () => client.close(),
  };
  return client;
}

/** The name `await using` looks for; made up where the runtime does not know it, as compilers do. */
const ASYNC_DISPOSE: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** What takes the place of the first load where nothing loads by itself. */
async function loadOnce(connection: Connection): Promise<void> {
  const { error } = await connection.load();
  if (error) connection.health.fail();
}

function failed(error: FlagsError | undefined): ReadyResult {
  return { status: 'failed', ...(error && { error }) };
}

function closedError(): FlagsError {
  return new FlagsError('client_closed', 'the client is closed', { retryable: false });
}

/** Something that ends once and can be waited for. */
function closing(): { promise: Promise<void>; finish: () => void; isDone: () => boolean } {
  let isDone = false;
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  const finish = () => {
    isDone = true;
    resolve();
  };
  return { promise, finish, isDone: () => isDone };
}

/** Waits for the first of several promises, for a time, or for a signal. Leaves no timer behind. */
async function firstOf(
  platform: Platform,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  promises: readonly Promise<void>[],
): Promise<void> {
  let cancel = () => {};
  const given = new Promise<void>((resolve) => {
    const stopTimer = platform.setTimer(resolve, timeoutMs);
    const onAbort = () => resolve();
    signal?.addEventListener?.('abort', onAbort);
    if (signal?.aborted) resolve();
    cancel = () => {
      stopTimer();
      signal?.removeEventListener?.('abort', onAbort);
    };
  });
  await Promise.race([given, ...promises]);
  cancel();
}
