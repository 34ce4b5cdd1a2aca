/** Lets one piece of asynchronous work through at a time, first come, first served. */
export class Turnstile {
  #tail: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all earlier work has settled; settles as `work` does. Work must not wait for the same turnstile. */
  pass<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    // The next in line waits for this turn however it ends; its failure belongs to its own caller alone.
    this.#tail = turn.catch(() => undefined);
    return turn;
  }
}
