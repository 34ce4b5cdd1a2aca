/** What the client needs from its surroundings. Passed in, so that tests own the time and the chance. */
export interface Platform {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** The wall clock in epoch milliseconds; only for `Retry-After` given as a date. */
  readonly wallClock: () => number;
  /** A random number, 0 inclusive to 1 exclusive. */
  readonly random: () => number;
  /**
   * Runs `callback` once after `ms` milliseconds, without keeping the process alive unless it is `held`. Gives the
   * cancel function.
   */
  readonly setTimer: (callback: () => void, ms: number, held?: boolean) => () => void;
  readonly fetch: Fetch;
}

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * The runtime's own clock, chance and network. Everything is looked up when it is used, never at import: workers
 * forbid timers and random numbers at that time, and fake timers may be installed later.
 */
export const systemPlatform: Platform = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  random: () => Math.random(),
  setTimer: (callback, ms, held) => {
    /** The longest delay a timer can have; a longer one would fire at once. */
    const MAX_TIMER_MS = 2 ** 31 - 1;
    // `Timer`: a number or an object, as the types of the runtimes differ; both only go back to the runtime.
    const timer = setTimeout(callback, Math.min(ms, MAX_TIMER_MS)) as unknown as Timer;
    // Keeps it from keeping the process alive. Node and Bun give an object for that, Deno a number.
    if (!held && !timer.unref?.()) (globalThis as Runtime).Deno?.unrefTimer?.(timer);
    return () => clearTimeout(timer);
  },
  fetch: (url, init) => globalThis.fetch(url, init),
};

type Timer = number & { readonly unref?: () => unknown };
type Runtime = { readonly Deno?: { unrefTimer?(timer: number): void } };
