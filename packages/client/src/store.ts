/** Keeps a client's last flags, so that the next start answers with them while the service is away. */
import { murmur3 } from '@halyard/protocol';
import type { FlagsClient } from './client-types.ts';
import type { Bootstrap } from './options.ts';

/** Where flags are kept. `localStorage` is one, {@link fileStorage} makes one. What it throws does no harm. */
export interface FlagStorage {
  getItem(name: string): string | null;
  setItem(name: string, text: string): unknown;
}

/** A storage, or a function that gives it: in some pages, reading `localStorage` throws. */
export type StorageSource = FlagStorage | (() => FlagStorage);

/** The flags of an earlier client. */
export interface StoredFlags {
  /** For the option `bootstrap` of `createClient`. */
  readonly bootstrap: Bootstrap;
  /** Milliseconds since they were current. */
  readonly ageMs: number;
}

/** Larger maps are not kept: storages of pages hold five megabytes. */
const MAX_LENGTH = 4 * 1024 * 1024;

/** Changes that come faster are kept together. */
const MIN_INTERVAL_MS = 1_000;

/** The version of the text, when it was current, and the checksum of the JSON that follows. */
const TEXT = /^halyard\/1 (\d{1,15}) (\d{1,10}) (.*)$/s;

/**
 * The flags that {@link keepFlags} has kept for an environment; `undefined` when nothing was kept, when it is older than
 * `maxAgeMs`, or when their text is damaged or of another version. Never throws.
 */
export function storedFlags(
  storage: StorageSource,
  environment: string,
  { maxAgeMs = Number.POSITIVE_INFINITY }: { readonly maxAgeMs?: number } = {},
): StoredFlags | undefined {
  try {
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
 * Keeps a client's flags: now, if they are current, and a second after each change. Returns the function that ends it.
 * Never throws; `onError` gets the error when flags cannot be kept.
 */
export function keepFlags(
  client: FlagsClient,
  storage: StorageSource,
  onError: (thrown: unknown) => unknown = () => {},
): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const keep = () => {
    timer = undefined;
    // What only a bootstrap says may be old already, and would look new.
    if (client.status !== 'ready') return;
    try {
      const json = JSON.stringify(client.toBootstrap());
      const text = `halyard/1 ${Date.now()} ${checksumOf(json)} ${json}`;
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
  const schedule = () => {
    timer ??= setTimeout(keep, MIN_INTERVAL_MS);
    (timer as { unref?: () => void }).unref?.(); // in pages a number
  };
  client.onChange(schedule, { signal });
  client.onStatus((status) => status === 'ready' && schedule(), { signal });
  keep();
  return () => {
    ending.abort();
    clearTimeout(timer);
  };
}

/** A storage in one file, for one environment, in Node, Bun and Deno. A reader never finds a half-written one. */
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
