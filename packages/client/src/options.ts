import type { FlagMap } from '@halyard/protocol';
import { redactProjectKey, SERVICE_KEY_HEADER } from '@halyard/protocol';
import { FlagsError } from './errors.ts';
import { isRecord, NO_FLAGS, readFlags, reconcile } from './flags.ts';
import { type Fetch, MAX_TIMER_MS, type Platform } from './platform.ts';
import type { Logger } from './reporter.ts';
import type { Mode, Target } from './target.ts';

/** What a client may start from before its first load: the map alone, or what `toBootstrap()` gives. */
export type Bootstrap = FlagMap | { readonly environment: string; readonly flags: FlagMap };

/** What flags were, and are, when a map has been replaced. */
export interface FlagsChange {
  /** Keys that were added, changed or removed. */
  readonly changed: readonly string[];
  readonly flags: FlagMap;
  /** The revision of the new map, when the server numbers its maps. */
  readonly revision?: number;
}

/** What `createClient` takes. */
export interface ClientOptions {
  /**
   * The project key. It goes into the header `X-Service-Key` and nowhere else. `false` for an address that needs
   * none: a handler of your own application that adds it (see `@halyard/client/handler`).
   */
  readonly apiKey: string | false;
  /** One client reads one environment. (Spec: one client, one environment) */
  readonly environment: 'development' | 'staging' | 'production' | (string & {});
  /** Address of the service. Default `http://localhost:7070`; in a browser the page's own origin. */
  readonly baseUrl?: string | URL;
  /**
   * `stream` (default) follows every change, `poll` asks every `pollIntervalMs`, `manual` loads only in `ready()` and
   * `refresh()`: right for workers, functions and scripts.
   */
  readonly mode?: Mode;
  /** Flags to answer with until the first load; from `toBootstrap()` of another client. */
  readonly bootstrap?: Bootstrap;
  /** Whom reads are for when they do not say: decides partial rollouts. */
  readonly targetingKey?: string;
  /** How long the server may take to begin an answer. Default 5,000. */
  readonly requestTimeoutMs?: number;
  /** How long `ready()` waits at most. Default 5,000. */
  readonly readyTimeoutMs?: number;
  /** Time between polls in the mode `poll`. Default 30,000, at least 5,000. */
  readonly pollIntervalMs?: number;
  /** How long after its connection was lost a client calls its flags stale. Default 30,000. */
  readonly staleAfterMs?: number;
  /** Allows sending the key over plain `http:` to another machine. Default `false`; loopback is always allowed. */
  readonly allowInsecureHttp?: boolean;
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch;
  /** More headers for every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Gets every failure. Without it, each kind is logged at most once a minute. (Spec: client behaviour) */
  readonly onError?: (error: FlagsError) => void;
  /** The first listener of `onChange`. */
  readonly onChange?: (change: FlagsChange) => void;
  /** Where warnings go. Default `console`; `false` for nowhere. */
  readonly logger?: false | Logger;
}

/** Options after checking. */
export interface Settings {
  readonly target: Target;
  readonly bootstrap: FlagMap | undefined;
  readonly targetingKey: string | undefined;
  readonly readyTimeoutMs: number;
  readonly onError: unknown;
  readonly onChange: unknown;
  readonly logger: unknown;
  /** Whether a secret key has been given to a web page. */
  readonly isKeyInPage: boolean;
  /** Why the client cannot work; its reads give defaults. */
  readonly error: FlagsError | undefined;
}

/** Options as they may come from JavaScript: every member anything. */
type Unchecked = { readonly [Name in keyof ClientOptions]?: unknown };

/** Checks options. Never throws: what cannot work becomes `Settings.error`. */
export function readOptions(given: unknown, platform: Platform): Settings {
  // Getters and proxies may throw at every touch, so everything is read in here, once.
  try {
    return readMembers({ ...(given as Unchecked) }, platform); // spreading takes any value
  } catch (thrown) {
    return readMembers({}, platform, thrown instanceof FlagsError ? thrown : wrong('options', 'readable'));
  }
}

function readMembers(given: Unchecked, platform: Platform, failure?: FlagsError): Settings {
  const { apiKey, environment, mode, onError, onChange, logger, targetingKey } = given;
  let error = failure;
  const attempt = <T>(read: () => T, fallback: T): T => {
    try {
      return read();
    } catch (thrown) {
      // Only our own words: another error may quote a header's value.
      error ??= thrown instanceof FlagsError ? thrown : wrong('headers', 'valid header names and values');
      return fallback;
    }
  };
  const key = attempt(() => readKey(apiKey), '');
  const baseUrl = attempt(
    () => readBaseUrl(given.baseUrl, key !== '' && given.allowInsecureHttp !== true),
    '',
  );
  const headers = attempt(() => readHeaders(given.headers, key), []);
  if (typeof environment !== 'string' || environment === '')
    error ??= wrong('environment', 'the name of one');
  if (mode !== undefined && mode !== 'stream' && mode !== 'poll' && mode !== 'manual')
    error ??= wrong('mode', "'stream', 'poll' or 'manual'");
  const { fetch } = given;
  return {
    target: {
      // `Fetch`: what it does when called is checked where it is called.
      platform: typeof fetch === 'function' ? { ...platform, fetch: fetch as Fetch } : platform,
      baseUrl,
      environment: typeof environment === 'string' ? environment : '',
      mode: mode === 'poll' || mode === 'manual' ? mode : 'stream',
      headers,
      requestTimeoutMs: readMs(given.requestTimeoutMs, 5_000, 1),
      pollIntervalMs: readMs(given.pollIntervalMs, 30_000, 5_000),
      staleAfterMs: readMs(given.staleAfterMs, 30_000, 0),
      redact: (text) => (key ? text.replaceAll(key, redactProjectKey(key)) : text),
    },
    bootstrap: given.bootstrap === undefined ? undefined : readBootstrap(given.bootstrap, environment),
    targetingKey: typeof targetingKey === 'string' ? targetingKey : undefined,
    readyTimeoutMs: readMs(given.readyTimeoutMs, 5_000, 0),
    onError,
    onChange,
    logger,
    isKeyInPage: key !== '' && 'document' in globalThis,
    error,
  };
}

function wrong(option: string, expected: string): FlagsError {
  return new FlagsError('invalid_options', `createClient: ${option} must be ${expected}`, {
    retryable: false,
  });
}

/** The key without the line break that files and terminals add; an empty one where none is needed. */
function readKey(apiKey: unknown): string {
  if (apiKey === false) return '';
  const key = typeof apiKey === 'string' ? apiKey.trim() : '';
  if (!/^[\x21-\x7e]+$/.test(key))
    throw wrong('apiKey', 'a project key (or false for an address that needs none)');
  return key;
}

function readBaseUrl(given: unknown, isGuarded: boolean): string {
  const here = (globalThis as { location?: { href?: string } }).location?.href; // a page's or worker's address
  const base = here?.startsWith('http') ? here : undefined;
  const text = given === undefined ? (base ? '/' : 'http://localhost:7070') : String(given);
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw wrong('baseUrl', 'an address');
  }
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw wrong('baseUrl', 'an http(s) address without user, query and fragment');
  if (isGuarded && url.protocol === 'http:' && !isLoopback(url.hostname))
    throw wrong('baseUrl', 'https: (plain http: would show the key; allowInsecureHttp: true permits it)');
  return url.href.replace(/\/+$/, '');
}

function isLoopback(host: string): boolean {
  return /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(host);
}

function readHeaders(given: unknown, key: string): Target['headers'] {
  // `Headers` checks whatever it is given; a failure is caught above.
  const headers = new Headers((given ?? {}) as Record<string, string>);
  if (key) headers.set(SERVICE_KEY_HEADER, key);
  const list: [string, string][] = [];
  for (const entry of headers) list.push(entry);
  return list;
}

function readMs(given: unknown, fallback: number, least: number): number {
  return typeof given === 'number' && given >= 0 ? Math.min(Math.max(given, least), MAX_TIMER_MS) : fallback;
}

/** A copy of what is usable in a bootstrap; one of another environment is not. */
function readBootstrap(given: unknown, environment: unknown): FlagMap | undefined {
  try {
    const data: unknown = JSON.parse(JSON.stringify(given));
    if (!isRecord(data)) return undefined;
    const isWrapped = typeof data.environment === 'string' && isRecord(data.flags);
    if (isWrapped && data.environment !== environment) return undefined;
    const parsed = readFlags(isWrapped ? data.flags : data);
    return parsed && reconcile(NO_FLAGS, parsed.flags).flags;
  } catch {
    // Data that is not JSON is no bootstrap; the client starts without, as it would have to after a failed load.
    return undefined;
  }
}
