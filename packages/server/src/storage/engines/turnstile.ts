/** Lets one piece of asynchronous work through at a time, first come, first served. */
export class Turnstile {
  readonly #pause: (() => Promise<void>) | undefined;
  #tail: Promise<unknown> = Promise.resolve();

  /** `pause` is waited for after each piece of work, by the next one. */
  constructor(pause?: () => Promise<void>) {
    this.#pause = pause;
  }

  /** Runs `work` when all earlier work has settled; settles as `work` does. Work must not wait for the same turnstile. */
  pass<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    // The next in line waits until this turn ends, in success or failure; only its own caller sees the failure.
    this.#tail = turn.catch(() => undefined).then(this.#pause);
    return turn;
  }
}
