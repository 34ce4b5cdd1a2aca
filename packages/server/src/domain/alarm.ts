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
