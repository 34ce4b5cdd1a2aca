/** How long work goes on before reads have their turn: an operation can change 1,000 environments, or 60,000 flags. */
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

/** How long to wait before attempt `attempt` (0 is the first) to reach the log again: 50 ms to 2 s, half of it jitter. */
export function reconnectDelayMs(attempt: number, random: () => number): number {
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

/**
 * A sleep that can be cut short. A ring between two waits is remembered once, so that no wake-up is lost; after `fail` every wait rejects.
 */
export class Alarm {
  #rung = false;
  #failure: Error | undefined;
  #waiting: PromiseWithResolvers<boolean> | undefined;

  /** Ends the current wait, or the next one, with `true`. */
  ring(): void {
    this.#rung = true;
    this.#waiting?.resolve(true);
  }

  /** Ends the current wait and all later ones with a rejection. */
  fail(cause: Error): void {
    this.#failure = cause;
    this.#waiting?.reject(cause);
  }

  /** Throws what it failed with, if it did. */
  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Waits until it rings (`true`) or until `deadline`, a `performance.now()` time (`false`). */
  async wait(deadline: number): Promise<boolean> {
    this.throwIfFailed();
    const delayMs = deadline - performance.now();
    if (delayMs <= 0) return false;
    if (!this.#rung) await this.#sleep(delayMs);
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }

  async #sleep(delayMs: number): Promise<void> {
    const waiting = Promise.withResolvers<boolean>();
    this.#waiting = waiting;
    const timer = setTimeout(() => waiting.resolve(false), delayMs);
    try {
      await waiting.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
    }
  }
}
