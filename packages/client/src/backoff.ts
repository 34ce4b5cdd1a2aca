/** First delay before trying again. */
export const FIRST_DELAY_MS = 1_000;
/** Greatest delay of a failure that may pass by itself. */
export const MAX_DELAY_MS = 30_000;
/** First delay after a refusal that only a person can undo (a wrong key, an unknown environment). */
export const FIRST_SLOW_DELAY_MS = 60_000;
/** Greatest delay of such a refusal. */
export const MAX_SLOW_DELAY_MS = 300_000;
/** A connection that held this long makes the next failure a first one. */
export const HEALTHY_MS = 60_000;
/** A longer `Retry-After` is cut to this: nobody may switch a client off. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** How long to wait before trying again. */
export interface Backoff {
  /** The first delay, which a server may set with `retry:`. */
  firstMs: number;
  /** Milliseconds to wait after one more failure; `isRefusal` when only a person can undo the cause. */
  next(failure: { readonly retryInMs?: number }, isRefusal: boolean): number;
  /** Forgets the failures so far. */
  reset(): void;
}

/**
 * Makes a backoff: doubling from 1 s to 30 s with full jitter, or from 60 s to 5 min (upper half
 * random) after a refusal; never less than the server asked for, and then with the jitter on top.
 */
export function createBackoff(random: () => number): Backoff {
  let failures = 0;
  const self: Backoff = {
    firstMs: FIRST_DELAY_MS,
    next: ({ retryInMs = 0 }, isRefusal) => {
      const doubling = 2 ** failures++; // may become infinite; the limits below do not
      const delayMs = isRefusal
        ? Math.min(FIRST_SLOW_DELAY_MS * doubling, MAX_SLOW_DELAY_MS) * (0.5 + random() / 2)
        : Math.min(self.firstMs * doubling, MAX_DELAY_MS) * random();
      return retryInMs + delayMs;
    },
    reset: () => {
      failures = 0;
    },
  };
  return self;
}

/** `Retry-After` in milliseconds, cut, from seconds or an HTTP date; `undefined` when absent or not understood. */
export function parseRetryAfter(text: string | null, wallClockMs: number): number | undefined {
  const ms = /^\s*\d+\s*$/.test(text ?? '') ? Number(text) * 1_000 : Date.parse(text ?? '') - wallClockMs;
  return ms >= 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}
