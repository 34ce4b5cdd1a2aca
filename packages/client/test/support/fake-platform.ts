import type { Fetch, Platform } from '../../src/platform.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A platform whose time stands still until it is moved, and whose chance is a constant. */
export class FakePlatform implements Platform {
  /** What `random` gives. */
  chance = 0.5;
  /** The wall clock when `now` is 0. */
  wallClockStart = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<Timer>();
  #now = 0;
  fetch: Fetch;

  constructor(fetch: Fetch) {
    this.fetch = fetch;
  }

  readonly now = (): number => this.#now;
  readonly wallClock = (): number => this.wallClockStart + this.#now;
  readonly random = (): number => this.chance;
  readonly setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { at: this.#now + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** Timers that are waiting. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until each waiting timer, soonest first. */
  get delays(): number[] {
    return [...this.#timers].map(({ at }) => at - this.#now).sort((a, b) => a - b);
  }

  /** Moves the time by `ms`, firing what falls due in order, and lets everything settle after each timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const next = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  /** Moves the time in steps until `condition` holds; gives the milliseconds that took. Fails after `limitMs`. */
  async advanceUntil(condition: () => boolean, limitMs: number): Promise<number> {
    const start = this.#now;
    await settle();
    while (!condition()) {
      if (this.#now - start >= limitMs) throw new Error(`it did not happen within ${limitMs} ms`);
      await this.advance(100);
    }
    return this.#now - start;
  }
}

/** Lets everything run that needs no time: promises, streams, callbacks. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve));
}
