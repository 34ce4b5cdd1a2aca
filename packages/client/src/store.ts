/** Keeps a client's last flags, so that the next start answers with them while the service is away. */
import { type FlagMap, murmur3 } from '@halyard/protocol';
import type { FlagsClient } from './client-types.ts';
import type { ClientStatus } from './connection.ts';
import type { Bootstrap } from './options.ts';
import { warnOnce } from './reporter.ts';

/** A storage for flags, such as `localStorage` or the result of {@link fileStorage}. It may throw. */
export interface FlagStorage {
  getItem(name: string): string | null;
  setItem(name: string, text: string): unknown;
}

/** A storage, or a function that returns one, because reading `localStorage` throws in some pages. */
export type StorageSource = FlagStorage | (() => FlagStorage);

/** The flags of an earlier client. */
export interface StoredFlags {
  /** For the option `bootstrap` of `createClient`. */
  readonly bootstrap: Bootstrap;
  /** Milliseconds since the flags were known to be current. Up to six minutes too many after a process was killed. */
  readonly ageMs: number;
}

/** Larger maps are not kept: storages of pages hold five megabytes. */
const MAX_LENGTH = 4 * 1024 * 1024;

/** Changes that come faster are kept together. */
const MIN_INTERVAL_MS = 1_000;

/** How often flags that stay as they are are written again: a tenth more or less. */
const RENEW_MS = 5 * 60_000;

/** The version of the text, when it was current, and the checksum of the JSON that follows. */
const TEXT = /^halyard\/1 (\d{1,15}) (\d{1,10}) (.*)$/s;

/**
 * Returns the flags that {@link keepFlags} stored for an environment; `undefined` if nothing usable is stored: no flags, or
 * flags that are older than `maxAgeMs`, damaged, or from another version of the format. Never throws.
 *
 * @example
 * ```ts
 * const storage = fileStorage('flags.txt');
 * const stored = storedFlags(storage, 'production', { maxAgeMs: 24 * 60 * 60 * 1000 });
 * const flags = createClient({ apiKey, environment: 'production', ...(stored && { bootstrap: stored.bootstrap }) });
 * keepFlags(flags, storage);
 * ```
 */
export function storedFlags(
  storage: StorageSource,
  environment: string,
  options?: { readonly maxAgeMs?: number },
): StoredFlags | undefined {
  try {
    const { maxAgeMs = Number.POSITIVE_INFINITY } = options ?? {}; // from JavaScript it may be null
    const text = open(storage).getItem(nameOf(environment)) ?? '';
    const [, keptAt, checksum, json = ''] = (text.length <= MAX_LENGTH && TEXT.exec(text)) || [];
    if (keptAt === undefined || checksum !== checksumOf(json)) return undefined;
    const ageMs = Math.max(0, Date.now() - Number(keptAt));
    const bootstrap: Bootstrap = JSON.parse(json);
    return ageMs <= maxAgeMs && bootstrap.environment === environment ? { bootstrap, ageMs } : undefined;
  } catch {
    // A storage that cannot be read holds nothing.
    return undefined;
  }
}

/**
 * Stores a client's flags: as soon as they are current, a second after each change, and every few minutes even without
 * changes, so that {@link storedFlags} knows their age. The last write happens when the flags stop being current, for example
 * because the client is closed, or when you call the returned function. Never throws; `onError` gets the error if flags cannot
 * be stored (default: one warning on the console).
 */
export function keepFlags(
  client: FlagsClient,
  storage: StorageSource,
  onError: (thrown: unknown) => unknown = warnOnce('flags cannot be kept'),
): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the flags at hand are current, or were until now. What only a bootstrap says may be old, and would look new. */
  let isCurrent = false;
  let keptFlags: FlagMap | undefined;
  let keptAt = 0;
  /** Whether a change waits to be written. */
  let isWaiting = false;

  const write = () => {
    isWaiting = false;
    keptFlags = client.all();
    keptAt = Date.now();
    try {
      const json = JSON.stringify(client.toBootstrap());
      const text = `halyard/1 ${keptAt} ${checksumOf(json)} ${json}`;
      if (text.length > MAX_LENGTH) throw new RangeError(`the flags have more than ${MAX_LENGTH} characters`);
      open(storage).setItem(nameOf(client.environment), text);
    } catch (thrown) {
      try {
        onError(thrown);
      } catch {
        // There is no other place to report it.
      }
    }
  };

  /** Writes, and again before the text looks much older than the flags are. */
  const keep = () => {
    write();
    writeIn(RENEW_MS * (0.9 + Math.random() / 5));
  };
  const writeIn = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(keep, ms);
    (timer as { unref?: () => void }).unref?.(); // in pages a number
  };

  const onStatus = (status: ClientStatus) => {
    const isReady = status === 'ready';
    if (isReady) keep();
    else clearTimeout(timer);
    // Not twice in a moment, as by a short program.
    if (isCurrent && !isReady && (isWaiting || Math.abs(Date.now() - keptAt) >= MIN_INTERVAL_MS)) write();
    isCurrent = isReady;
  };

  client.onStatus(onStatus, { signal });
  client.onChange(
    ({ flags }) => {
      // With the first map, the status came first. A change that is already waiting is not put off.
      if (!isCurrent || flags === keptFlags || isWaiting) return;
      isWaiting = true;
      writeIn(MIN_INTERVAL_MS);
    },
    { signal },
  );

  onStatus(client.status);
  return () => {
    onStatus('closed');
    ending.abort();
  };
}

/** Creates a storage in a file, for one environment, in Node, Bun and Deno. The file is replaced atomically. */
export function fileStorage(path: string): FlagStorage {
  const files = () => {
    const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
    // `Files`: the part that is used. Imported when it is needed, so that pages can load this module.
    return process?.getBuiltinModule?.('node:fs') as Files;
  };
  return {
    getItem: () => files().readFileSync(path, 'utf8'),
    setItem: (_, text) => {
      const unfinished = `${path}.${Math.random().toString(36).slice(2)}`;
      try {
        files().writeFileSync(unfinished, text, { mode: 0o600 });
        files().renameSync(unfinished, path);
      } catch (error) {
        files().rmSync(unfinished, { force: true });
        throw error;
      }
    },
  };
}

interface Files {
  readFileSync(path: string, encoding: 'utf8'): string;
  writeFileSync(path: string, text: string, options: { readonly mode: number }): void;
  renameSync(from: string, to: string): void;
  rmSync(path: string, options: { readonly force: boolean }): void;
}

function open(storage: StorageSource): FlagStorage {
  return typeof storage === 'function' ? storage() : storage;
}

function nameOf(environment: string): string {
  return `halyard/1/${environment}`;
}

function checksumOf(json: string): string {
  return String(murmur3(new TextEncoder().encode(json)));
}
