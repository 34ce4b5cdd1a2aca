/** How long work runs before reads have their turn: an operation can change 1,000 environments, or 60,000 flags. */
const SLICE_MS = 3;

/** Lets the event loop turn every few milliseconds of work. */
export class Turns {
  #sliceEnds = performance.now() + SLICE_MS;

  /** Called between two pieces of the work: waits for a turn when one is due. */
  async next(): Promise<void> {
    if (performance.now() <= this.#sliceEnds) return;
    await turn();
    this.#sliceEnds = performance.now() + SLICE_MS;
  }
}

/** How long to wait before the next attempt to reach the log, in milliseconds. */
const RECONNECT_MS = { first: 50, longest: 2000 } as const;

/**
 * How long to wait before attempt `attempt` (0 is the first) to reach the log again: 50 ms to 2 s, half of it jitter; or as
 * long as the source asked for, and up to twice as long, so that those who were asked together do not return together.
 */
export function reconnectDelayMs(attempt: number, random: () => number, askedMs = 0): number {
  if (askedMs > 0) return askedMs * (1 + random());
  const ceiling = Math.min(RECONNECT_MS.longest, RECONNECT_MS.first * 2 ** Math.min(attempt, 10));
  return ceiling / 2 + (random() * ceiling) / 2;
}

/** Resolves after `ms` milliseconds. The timer does not keep the process. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

/** Resolves in the next turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
