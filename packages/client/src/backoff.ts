import { type FlagsError, isRefusal } from './errors.ts';

/** How long to wait before trying again. */
export interface Backoff {
  /** The first delay, which a server may set with `retry:`. */
  firstMs: number;
  /** Milliseconds to wait after one more failure. */
  delayAfter(error: FlagsError): number;
  /** Forgets the failures so far. */
  startAgain(): void;
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
    delayAfter: (error) => {
      const doubling = 2 ** failures++; // may become infinite; the limits below do not
      const delayMs = isRefusal(error)
        ? Math.min(FIRST_SLOW_DELAY_MS * doubling, MAX_SLOW_DELAY_MS) * (0.5 + random() / 2)
        : Math.min(self.firstMs * doubling, MAX_DELAY_MS) * random();
      return (error.retryInMs ?? 0) + delayMs;
    },
    startAgain: () => {
      failures = 0;
    },
  };
  return self;
}
