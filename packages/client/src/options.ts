import type { FlagMap } from '@halyard/protocol';
import { readTargetingKey, SERVICE_KEY_HEADER } from '@halyard/protocol';
import type { ReadOptions, TargetingKey } from './client-types.ts';
import { FlagsError } from './errors.ts';
import { isRecord, readFlags } from './flags.ts';
import type { Fetch, Platform } from './platform.ts';
import { guard, type Logger, optionOf } from './reporter.ts';
import { loadFlags } from './rest.ts';
import type { Mode, Target } from './target.ts';

/** Flags that a client starts with: a map, or the result of `toBootstrap()` or `evaluateAll`. */
export type Bootstrap =
  | FlagMap
  | {
      readonly environment: string;
      readonly flags: FlagMap;
      /** The user that rollouts were decided for: the client's targeting key, unless the options have one. */
      readonly targetingKey?: TargetingKey;
    };

/** A change of flags. */
export interface FlagsChange {
  /** Keys that were added, changed or removed. */
  readonly changed: readonly string[];
  readonly flags: FlagMap;
  /** The revision of the new flags, if the server numbers them. */
  readonly revision?: number | undefined;
}

/** Options of `createClient`. */
export interface ClientOptions {
  /**
   * The project key, which starts with `proj_live_`. It is sent in the header `X-Service-Key` and appears nowhere else. Use
   * `false` for an address that needs no key: a handler of your own application (see `@halyard/client/handler`).
   */
  readonly apiKey: string | false;
  /** The environment. A client reads only one. (Spec: S1.8) */
  readonly environment: 'development' | 'staging' | 'production' | (string & {});

  /**
   * Address of the service. Default: in a browser the page's own origin; elsewhere the variable `HALYARD_URL`, or
   * `http://127.0.0.1:7070` without it.
   */
  readonly baseUrl?: string | URL;
  /**
   * `stream` (default) follows every change. `poll` loads every `pollIntervalMs`. `manual` loads only in `ready()` and
   * `refresh()`, for workers, functions and scripts.
   */
  readonly mode?: Mode;

  /** Flags to use until the first load, from `toBootstrap()` of another client or from `evaluateAll`. */
  readonly bootstrap?: Bootstrap;
  /** Default targeting key of reads, which decides partial rollouts. Default: the one of the bootstrap. */
  readonly targetingKey?: TargetingKey | undefined;

  /** Timeout for the headers of an answer, in milliseconds. Default 5,000. */
  readonly requestTimeoutMs?: number;
  /** Timeout of `ready()`, in milliseconds. Default 5,000. */
  readonly readyTimeoutMs?: number;
  /** Time between polls in the mode `poll`, in milliseconds. Default 30,000, at least 5,000. */
  readonly pollIntervalMs?: number;
  /** Milliseconds between losing the connection and becoming `stale`. Default 30,000. */
  readonly staleAfterMs?: number;

  /** Whether the key may be sent over plain `http:` to another machine. Default `false`; loopback is always allowed. */
  readonly allowInsecureHttp?: boolean;
  /**
   * Whether to report how often each flag is read, if the project asks for it: counts without targeting keys, at most once a
   * minute and when the client is closed. Default `true`.
   */
  readonly reportUsage?: boolean;

  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch;
  /** Additional headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;

  /** Called with every failure. Without it, each kind of failure is logged at most once a minute. (Spec: S1.7) */
  readonly onError?: (error: FlagsError) => void;
  /** The first listener of `onChange`. */
  readonly onChange?: (change: FlagsChange) => void;
  /** Destination of log lines, see {@link Logger}. Default: warnings to `console`. `false` turns logging off. */
  readonly logger?: false | Logger;
}

/** Options as they may come from JavaScript: every member anything. */
export type Unchecked = { readonly [Name in keyof ClientOptions]?: unknown };

/** Copies options. Getters and proxies may throw at every read, so each option is read once, here. */
export function copyOptions(given: unknown): Unchecked {
  try {
    return { ...(given as Unchecked) }; // spreading takes any value
  } catch {
    // No members are as wrong as unreadable ones, and that is reported.
    return {};
  }
}

/** Whom a read is for: its options say so, or else `otherwise`. `null` for what is no key. */
export function targetOf(
  options: ReadOptions | undefined,
  otherwise?: string | null,
): string | null | undefined {
  const key = readTargetingKey(optionOf(options, 'targetingKey'));
  return key === undefined ? otherwise : key;
}

/** A listener that hears of changes of some keys only. Keys that cannot be read are all keys. */
export function filtered(
  listener: (change: FlagsChange) => void,
  filter: { readonly keys?: readonly string[] } | undefined,
): (change: FlagsChange) => unknown {
  try {
    const keys = filter?.keys && new Set(filter.keys);
    if (keys) return (change) => change.changed.some((key) => keys.has(key)) && listener(change);
  } catch {
    // As if there were none.
  }
  return listener;
}

/** Checks what a connection needs. Throws `invalid_options`, which never quotes a value. */
export function readTarget(given: Unchecked, platform: Platform): Target {
  const { apiKey, environment, mode = 'stream', fetch } = given;
  // Without the line break that files and terminals add.
  const key = typeof apiKey === 'string' ? apiKey.trim() : '';
  if (apiKey !== false && !/^[\x21-\x7e]+$/.test(key)) throw wrong('apiKey (proj_live_...)');

  if (typeof environment !== 'string' || !/^\P{Cs}+$/u.test(environment)) throw wrong('environment');
  if (mode !== 'stream' && mode !== 'poll' && mode !== 'manual') throw wrong('mode');

  return {
    // `Fetch`: what it does when called is checked where it is called.
    platform: typeof fetch === 'function' ? { ...platform, fetch: fetch as Fetch } : platform,
    baseUrl: readBaseUrl(given.baseUrl, key !== '' && given.allowInsecureHttp !== true),
    environment,
    loadMap: loadFlags,
    mode,
    headers: readHeaders(given.headers, key),
    isPlain: !key && !given.headers && !fetch,
    requestTimeoutMs: readMs(given.requestTimeoutMs, 5_000, 1),
    pollIntervalMs: readMs(given.pollIntervalMs, 30_000, 5_000),
    staleAfterMs: readMs(given.staleAfterMs, 30_000),
    note: (message) =>
      guard(
        () => (given.logger as Logger | undefined)?.debug?.(`[halyard] ${message}`),
        () => {}, // a log that fails cannot be reported
      ),
    counts: undefined,
    // Not every error has a string for its message.
    redact: (text) => (key ? String(text).replaceAll(key, '[redacted]') : text),
  };
}

/** Milliseconds, at least `leastMs`; the default for what is no number. */
export function readMs(given: unknown, defaultMs: number, leastMs = 0): number {
  return typeof given === 'number' && given >= 0 ? Math.max(given, leastMs) : defaultMs;
}

/** A copy of what is usable in a bootstrap, and whom it was decided for; one of another environment is not usable. */
export function readBootstrap({
  bootstrap,
  environment,
}: Unchecked): [flags?: FlagMap, targetingKey?: string | null | undefined] {
  try {
    const data: unknown = JSON.parse(JSON.stringify(bootstrap));
    const isWrapped = isRecord(data) && isRecord(data.flags) && typeof data.environment === 'string';
    const { flags } = readFlags(isWrapped ? data.environment === environment && data.flags : data);
    return [flags, isWrapped ? targetOf(data) : undefined];
  } catch {
    // What is not JSON, or not a map, is no bootstrap.
    return [];
  }
}

function wrong(option: string): FlagsError {
  return new FlagsError('invalid_options', `createClient needs a valid ${option}`, {
    retryable: false,
  });
}

function readBaseUrl(given: unknown, isGuarded: boolean): string {
  /** The server's own default: `localhost` may mean `::1` first, where it does not listen. */
  const DEFAULT_URL = 'http://127.0.0.1:7070';
  const LOOPBACK = /(^|\.)localhost$|^127[.\d]+$|^\[::1]$/;
  const { origin } = (globalThis as { location?: { origin?: string } }).location ?? {}; // of a page or a worker
  const page = origin?.startsWith('http') ? origin : undefined;

  let url: URL | undefined;
  try {
    url = new URL(String(given ?? page ?? (readVariable() || DEFAULT_URL)), page);
  } catch {
    // Reported below, without quoting it.
  }

  if (!url || !/^https?:\/\/[^@/]+\/[^?#]*$/.test(url.href)) throw wrong('baseUrl');
  if (isGuarded && url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    throw wrong('baseUrl: https:, or allowInsecureHttp');
  return url.href.replace(/\/+$/, '');
}

/** The variable `HALYARD_URL`, where reading it asks no one: Deno would ask the person at the terminal. */
function readVariable(): string | undefined {
  const { Deno, process } = globalThis as {
    readonly Deno?: { readonly permissions: { querySync(about: object): { readonly state: string } } };
    readonly process: { readonly env: Readonly<Record<string, string | undefined>> }; // perhaps: see below
  };
  const variable = 'HALYARD_URL';
  try {
    if (!Deno || Deno.permissions.querySync({ name: 'env', variable }).state === 'granted')
      return process.env[variable];
  } catch {
    // Pages and workers have no variables.
  }
  return undefined;
}

function readHeaders(given: unknown, key: string): Headers {
  try {
    const headers = new Headers((given ?? {}) as Record<string, string>); // `Headers` checks whatever it is given
    if (key) headers.set(SERVICE_KEY_HEADER, key);
    return headers;
  } catch {
    // Its own words may quote a value.
    throw wrong('headers');
  }
}
