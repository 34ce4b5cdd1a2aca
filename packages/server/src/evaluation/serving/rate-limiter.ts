interface Bucket {
  tokens: number;
  filledAt: number;
}

/**
 * A token bucket per project key: `perSecond` requests a second, bursts of the same size. (Spec: Limits 1)
 */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** By the key's record; weak, so that a bucket goes with its key. */
  readonly #buckets = new WeakMap<object, Bucket>();

  /** `now` is a monotonic clock in milliseconds. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Takes one request from the key's bucket. Returns 0 when it may pass, otherwise the seconds to wait. */
  take(key: object): number {
    const now = this.#now();
    const bucket = this.#refill(key, now);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / this.#perSecond));
  }

  #refill(key: object, now: number): Bucket {
    const burst = Math.max(1, this.#perSecond);
    const known = this.#buckets.get(key);
    if (known === undefined) {
      const fresh = { tokens: burst, filledAt: now };
      this.#buckets.set(key, fresh);
      return fresh;
    }
    known.tokens = Math.min(burst, known.tokens + ((now - known.filledAt) / 1000) * this.#perSecond);
    known.filledAt = now;
    return known;
  }
}
