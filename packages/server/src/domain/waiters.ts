/** Callers that wait until something holds, each for a limited time. */
export class Waiters {
  readonly #waiting = new Map<() => void, () => boolean>();

  /** Waits until `holds`, which is asked now and at each {@link check}, at most this many milliseconds. */
  async until(holds: () => boolean, withinMs: number): Promise<void> {
    if (holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(resolve, holds);
    const timer = setTimeout(resolve, withinMs);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
  }

  /** Something has changed: asks again. */
  check(): void {
    for (const [resolve, holds] of this.#waiting) if (holds()) resolve();
  }
}
