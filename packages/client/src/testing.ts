/** A client for tests: the same interface, in memory, without time and network. */
import type { FlagMap, FlagState } from '@halyard/protocol';
import type { FlagsClient, ReadyResult, TargetingKey } from './client-types.ts';
import type { ClientStatus } from './connection.ts';
import { type FlagErrorCode, FlagsError } from './errors.ts';
import { NO_FLAGS, plainOf, readFlags, reconcile } from './flags.ts';
import { type FlagsChange, filtered, targetOf } from './options.ts';
import { createReads } from './reads.ts';
import { createReporter } from './reporter.ts';

/** Options of {@link createTestClient}. */
export interface TestClientOptions {
  /** Default `test`. */
  readonly environment?: string;
  /** The flags to start with. `true` and `false` are flags that are on or off and have no value. */
  readonly flags?: Readonly<Record<string, FlagState | boolean>>;
  readonly targetingKey?: TargetingKey | undefined;
  readonly onError?: (error: FlagsError) => void;
}

/** A {@link FlagsClient} that a test controls. Every method takes effect immediately. */
export interface TestClient extends FlagsClient {
  /** Sets one flag. */
  set(key: string, state: FlagState | boolean): void;
  /** Removes one flag. */
  remove(key: string): void;
  /** Sets all flags. */
  replace(flags: Readonly<Record<string, FlagState | boolean>>): void;
  /** Fails as if the server did: the client becomes `failed` if it has no flags, otherwise `stale`. Default `network_error`. */
  fail(code?: FlagErrorCode): void;
  /** Loses the connection: the client keeps its flags and becomes `stale`. */
  goStale(): void;
  /** Reconnects: the client becomes `ready`. */
  recover(): void;
}

/**
 * Creates a client for tests, which is `ready` at once. For a client whose first load fails, pass no `flags` and call `fail()`.
 *
 * @example
 * ```ts
 * const flags = createTestClient({ flags: { 'new-checkout': true } });
 * flags.set('new-checkout', false);
 * ```
 */
export function createTestClient(given?: TestClientOptions): TestClient {
  const options = given ?? {}; // from JavaScript it may be null
  const { environment = 'test', onError } = options;
  const targetingKey = targetOf(options);
  const reporter = createReporter(() => 0, onError, onError ? undefined : false);
  const changes = reporter.listeners<FlagsChange>();
  const statuses = reporter.listeners<ClientStatus>();
  let status: ClientStatus = 'ready';
  let hasMap = true;
  let revision = 1;
  let lastError: FlagsError | undefined;

  const source = {
    flags: reconcile(NO_FLAGS, mapOf(options.flags ?? {})).flags,
    bootstrap: undefined,
    targetingKey,
    target: undefined,
    reporter,
    touch: () => {},
    isReady: () => status === 'ready',
    hasMap: () => hasMap,
  };

  const become = (next: ClientStatus) => {
    if (status === next || status === 'closed') return;
    status = next;
    statuses.tellAll(next);
  };
  const replace = (next: FlagMap) => {
    const { flags, changed } = reconcile(source.flags, next);
    if (changed.length === 0 || status === 'closed') return;
    source.flags = flags;
    hasMap = true;
    changes.tellAll({ changed, flags: plainOf(flags), revision: ++revision });
  };

  const closedError = new FlagsError('client_closed', 'the client is closed', { retryable: false });
  const ready = async (): Promise<ReadyResult> => {
    if (status === 'closed') return { status: 'failed', error: closedError };
    if (hasMap) return { status: 'ready' };
    return { status: 'failed', ...(lastError && { error: lastError }) };
  };
  const close = async () => {
    become('closed');
    changes.forgetAll();
    statuses.forgetAll();
  };

  return {
    ...createReads(source),
    environment,
    targetingKey,
    hasBootstrap: false,
    get status() {
      return status;
    },
    get revision() {
      return revision;
    },
    ready,
    onChange: (listener, filter) => changes.add(filtered(listener, filter), filter),
    onStatus: (listener, filter) => statuses.add(listener, filter),
    refresh: async () => {
      if (status === 'closed') reporter.report(closedError);
      return status === 'ready';
    },
    toBootstrap: () => ({ environment, flags: { ...source.flags } }),
    close,
    [Symbol.asyncDispose]: close,
    set: (key, state) => replace({ ...source.flags, ...mapOf({ [key]: state }) }),
    remove: (key) => {
      const { [key]: _, ...rest } = source.flags;
      replace(rest);
    },
    replace: (flags) => replace(mapOf(flags)),
    fail: (code = 'network_error') => {
      if (status === 'closed') return;
      lastError = new FlagsError(code, 'a test made it fail');
      if (Object.keys(source.flags).length === 0) hasMap = false;
      become(hasMap ? 'stale' : 'failed');
      reporter.report(lastError);
    },
    goStale: () => become('stale'),
    recover: () => {
      hasMap = true;
      become('ready');
    },
  };
}

/** A flag map of a test's shorthand. Throws on what is no flag state: a mistake in a test should be seen. */
function mapOf(given: Readonly<Record<string, FlagState | boolean>>): FlagMap {
  const entries = Object.entries(given).map(([key, state]): [string, FlagState] => [
    key,
    typeof state === 'boolean' ? { enabled: state } : { ...state },
  ]);
  // A copy as from a server: what is at hand gets frozen, and the test's own objects are the test's.
  const states: unknown = JSON.parse(JSON.stringify(Object.fromEntries(entries)));
  let wrong: readonly string[] = Object.keys(given);
  try {
    const { flags, rejected } = readFlags(states);
    if (rejected.length === 0) return flags;
    wrong = rejected;
  } catch {
    // None of them is a flag state.
  }
  throw new TypeError(`not a flag state: ${wrong.join(', ')}`);
}
