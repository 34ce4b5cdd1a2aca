import type { FlagMap, FlagState, Json } from '@halyard/protocol';
import { FlagsError } from './errors.ts';

/** The map of a client that has none yet. */
export const NO_FLAGS: FlagMap = Object.freeze(Object.create(null));

/** A flag map made of foreign data. */
export interface ParsedFlags {
  flags: FlagMap;
  /** Keys of members that were left out because they are not flag states. */
  readonly rejected: readonly string[];
}

/**
 * Reads a flag map from foreign data: a whole one, or what is set and `removed` in the map `base`. A member that is no flag
 * state is left out, so that one damaged flag cannot hold back all others; throws `invalid_response` for data of another shape.
 * Without a prototype, so `__proto__` is only a key.
 */
export function readFlags(data: unknown, base = NO_FLAGS, removed: unknown = []): ParsedFlags {
  /** Deeper values are damaged: servers take less, and what walks a value would run out of stack. */
  const MAX_DEPTH = 64;
  const isMap = isRecord(data);
  const flags: Record<string, FlagState> = Object.assign(Object.create(null), isMap && base);
  const rejected: string[] = [];
  for (const key of removed as string[]) delete flags[key];
  for (const [key, member] of Object.entries(isMap ? data : [0])) {
    const { enabled, value, rolloutPct: pct } = isRecord(member) ? member : {};
    // A percentage that cannot be read is not 100: the flag would be on for everyone.
    if (
      typeof enabled === 'boolean' &&
      isShallow(value, MAX_DEPTH) &&
      (pct === undefined || (typeof pct === 'number' && pct >= 0 && pct <= 100))
    )
      flags[key] = Object.freeze({
        enabled,
        // `Json`: foreign data is made by JSON.parse, or given by the application as such (a bootstrap).
        ...(value !== undefined && { value: value as Json }),
        ...(pct !== undefined && { rolloutPct: pct }),
      });
    else {
      delete flags[key];
      rejected.push(key);
    }
  }

  // Members, but no flag among them: an error body or a wrapper, not a map.
  if (rejected.length && !Object.keys(flags).length)
    throw new FlagsError('invalid_response', 'it is not a flag map');
  return { flags, rejected };
}

const plain = new WeakMap<FlagMap, FlagMap>();

/**
 * The plain copy of a map, for the application: frameworks send no object without a prototype from a server to a page. A key
 * `__proto__` is a key there, too. The same object for the same map.
 */
export function plainOf(flags: FlagMap): FlagMap {
  const copy = plain.get(flags) ?? Object.freeze({ ...flags });
  plain.set(flags, copy);
  return copy;
}

function isShallow(data: unknown, depth: number): boolean {
  return (
    !isObject(data) ||
    (depth > 0 && Object.values(Object.freeze(data)).every((each) => isShallow(each, depth - 1)))
  );
}

/** What becomes of a map when the next one comes. */
export interface Reconciled {
  /** The next map, frozen; states that did not change are the very same objects as before. */
  readonly flags: FlagMap;
  /** Keys that were added, changed or removed. */
  readonly changed: readonly string[];
}

/** Compares two maps and makes the second one share what it can with the first. */
export function reconcile(previous: FlagMap, next: FlagMap): Reconciled {
  const flags: Record<string, FlagState> = Object.create(null);
  const changed: string[] = [];
  // `FlagState` below: the key was just read from that very map.
  for (const key of Object.keys(next)) {
    const before = previous[key];
    const after = next[key] as FlagState;
    if (isEqual(before, after)) flags[key] = before as FlagState;
    else {
      flags[key] = after;
      changed.push(key);
    }
  }

  for (const key of Object.keys(previous)) if (!next[key]) changed.push(key);
  return { flags: changed.length ? Object.freeze(flags) : previous, changed };
}

/** Whether two pieces of JSON are the same, whatever the order of their members. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b || !isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  );
}

/** Whether `data` is an object that is not an array. */
export function isRecord(data: unknown): data is Record<string, unknown> {
  return isObject(data) && !Array.isArray(data);
}

function isObject(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null;
}
