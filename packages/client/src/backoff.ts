import { type FlagsError, isRefusal } from './errors.ts';

/** How long to wait before trying again. */
export interface Backoff {
  /** The first delay, which a server may set with `retry:`. */
  firstMs: number;
  /** Milliseconds to wait after one more failure. */
  next(error: FlagsError): number;
  /** Forgets the failures so far. */
  reset(): void;
}

/**
 * Makes a backoff: doubling from 1 s to 30 s with full jitter, or from 60 s to 5 min (upper half
 * random) after a refusal; never less than the server asked for, and then with the jitter on top.
 */
export function createBackoff(random: () => number): Backoff {
  /** First delay before trying again. */
  const FIRST_DELAY_MS = 1_000;
  /** Greatest delay of a failure that may pass by itself. */
  const MAX_DELAY_MS = 30_000;
  /** First delay after a refusal that only a person can undo (a wrong key, an unknown environment). */
  const FIRST_SLOW_DELAY_MS = 60_000;
  /** Greatest delay of such a refusal. */
  const MAX_SLOW_DELAY_MS = 300_000;
  let failures = 0;
  const self: Backoff = {
    firstMs: FIRST_DELAY_MS,
    next: (error) => {
      const doubling = 2 ** failures++; // may become infinite; the limits below do not
      const delayMs = isRefusal(error)
        ? Math.min(FIRST_SLOW_DELAY_MS * doubling, MAX_SLOW_DELAY_MS) * (0.5 + random() / 2)
        : Math.min(self.firstMs * doubling, MAX_DELAY_MS) * random();
      return (error.retryInMs ?? 0) + delayMs;
    },
    reset: () => {
      failures = 0;
    },
  };
  return self;
}

/** `Retry-After` in milliseconds, cut, from seconds or an HTTP date; `undefined` when absent or not understood. */
export function parseRetryAfter(text: string | null, wallClockMs: number): number | undefined {
  /** A longer `Retry-After` is cut to this: no server may switch a client off. */
  const MAX_RETRY_AFTER_MS = 3_600_000;
  const ms = /^\s*\d+\s*$/.test(text ?? '') ? Number(text) * 1_000 : Date.parse(text ?? '') - wallClockMs;
  return ms >= 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}
