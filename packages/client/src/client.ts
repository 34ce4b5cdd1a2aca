import { onAbort } from './abort.ts';
import type { FlagsClient, ReadOptions } from './client-types.ts';
import type { ClientStatus, Connection } from './connection.ts';
import { acquireConnection, type Lease } from './connection-registry.ts';
import { FlagsError } from './errors.ts';
import { NO_FLAGS, plainOf, reconcile } from './flags.ts';
import {
  type ClientOptions,
  copyOptions,
  type FlagsChange,
  filtered,
  readBootstrap,
  readMs,
  readTarget,
  targetOf,
} from './options.ts';
import { type Platform, systemPlatform } from './platform.ts';
import { createReads, type ReadSource } from './reads.ts';
import { createReporter, optionOf } from './reporter.ts';
import type { Target } from './target.ts';

/**
 * Creates a client for one environment. Never throws, and connects at the first call: see {@link FlagsClient}.
 *
 * @example
 * ```ts
 * const flags = createClient({ apiKey: process.env.HALYARD_KEY ?? '', environment: 'production' });
 * await flags.ready();
 * if (flags.isEnabled('new-checkout', { targetingKey: user.id })) renderNewCheckout();
 * ```
 */
export function createClient(options: ClientOptions): FlagsClient {
  return createClientOn(systemPlatform, options);
}

/** {@link createClient} with a given clock, source of chance and network. */
export function createClientOn(
  platform: Platform,
  options: ClientOptions,
  acquire = acquireConnection,
): FlagsClient {
  const given = copyOptions(options);
  const environment = typeof given.environment === 'string' ? given.environment : '';
  const [bootstrap, decidedFor] = readBootstrap(given);
  const reporter = createReporter(platform.now, given.onError, given.logger);
  const changes = reporter.listeners<FlagsChange>();
  const statuses = reporter.listeners<ClientStatus>();
  const closedError = new FlagsError('client_closed', 'the client is closed', { retryable: false });

  let target: Target | undefined;
  let error: FlagsError | undefined;
  try {
    target = readTarget(given, platform);
  } catch (thrown) {
    error = thrown as FlagsError; // it throws nothing else
  }

  let release: Lease[1] = () => undefined;
  let connection: Connection | undefined;
  let isTouched = false;
  let closing: Promise<void> | undefined;
  let status: ClientStatus = bootstrap ? 'stale' : 'connecting';
  /** Runs listeners, but not during the first read, which may be in the middle of a rendering. */
  let tell = queueMicrotask;
  changes.add(given.onChange);

  /** A closed client reports nothing; a listener of another client on the connection may close this one. */
  const report = (failure: FlagsError) => {
    if (status !== 'closed') reporter.report(failure);
  };
  /** A client with a bootstrap is `stale` where another one would be `connecting` or `failed`. */
  const become = (next: ClientStatus) => {
    const seen = bootstrap && (next === 'failed' || next === 'connecting') ? 'stale' : next;
    if (seen === status || status === 'closed') return;
    status = seen;
    tell(() => statuses.tellAll(seen));
  };
  const update = () => {
    const { flags, status: next, revision } = connection as Connection; // it is what calls this
    const { changed } = reconcile(source.flags, flags ?? source.flags);
    if (flags && changed.length) source.flags = flags;
    become(next);
    if (!changed.length) return;

    const change = { changed, flags: plainOf(source.flags), revision: revision() };
    tell(() => changes.tellAll(change));
  };

  const listener = { onUpdate: update, onError: report };

  const touch = () => {
    if (isTouched) return;
    isTouched = true;
    if (target) {
      [connection, release] = acquire(target);
      if (given.reportUsage !== false) source.target = connection.target;
      connection.listeners.add(listener);
      update();
      connection.startFollowing();
      if (given.apiKey && 'document' in globalThis) reporter.warn('page', 'apiKey is a secret');
    } else {
      become('failed');
      tell(() => report(error as FlagsError)); // options that give no target give an error
    }
    tell = (listen) => listen();
  };
  const source: ReadSource = {
    flags: bootstrap ?? NO_FLAGS,
    bootstrap,
    targetingKey: targetOf(given as ReadOptions, decidedFor), // whatever it is, it is checked there
    target: undefined,
    reporter,
    touch,
    isReady: () => status === 'ready',
    hasMap: () => connection?.flags ?? bootstrap,
  };

  /** Waits for the first load, a timeout, a signal, or the end of the client. */
  const wait = (link: Connection, options: Parameters<FlagsClient['ready']>[0]) =>
    new Promise<void>((resolve) => {
      const done = () => {
        cancelTimer();
        stopListening();
        stopWaiting();
        resolve();
      };
      // Keeps the process alive while `ready()` is pending: between two attempts nothing else does.
      const limitMs = readMs(optionOf(options, 'timeoutMs'), readMs(given.readyTimeoutMs, 5_000));
      const cancelTimer = platform.setTimer(done, limitMs, true);
      const stopListening = statuses.add(done);
      const stopWaiting = onAbort(optionOf(options, 'signal'), done);
      if (link.target.mode === 'manual') void link.refresh().then(done);
    });

  const client: FlagsClient = {
    ...createReads(source),
    environment,
    targetingKey: source.targetingKey,
    hasBootstrap: !!bootstrap,
    get status() {
      return status;
    },
    get revision() {
      return connection?.revision();
    },

    ready: async (options) => {
      touch();
      if (connection && !connection.flags && !bootstrap && status !== 'closed')
        await wait(connection, options);

      if (error) return { status: 'failed', error };
      if (connection?.flags) return { status: 'ready' };
      if (bootstrap) return { status: 'bootstrapped' };
      return {
        status: status === 'failed' ? 'failed' : 'timeout',
        error: connection?.error ?? new FlagsError('timeout', 'no answer in time'),
      };
    },

    onChange: (listener, filter) => {
      touch();
      return changes.add(filtered(listener, filter), filter);
    },
    onStatus: (listener, filter) => {
      touch();
      return statuses.add(listener, filter);
    },

    refresh: async () => {
      touch();
      if (status === 'closed') reporter.report(closedError);
      else if (connection) return !(await connection.refresh()) && connection.isCurrent;
      return false;
    },
    toBootstrap: () => {
      touch();
      return { environment, flags: { ...source.flags } };
    },

    close: async () => {
      if (status !== 'closed') {
        isTouched = true;
        error = closedError;
        become('closed');
        connection?.listeners.delete(listener);
        changes.forgetAll();
        statuses.forgetAll();
        closing = release();
      }
      await closing;
    },
    [ASYNC_DISPOSE]: () => client.close(),
  };
  return client;
}

/** `Symbol.asyncDispose`, or a stand-in on older runtimes. */
const ASYNC_DISPOSE: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
