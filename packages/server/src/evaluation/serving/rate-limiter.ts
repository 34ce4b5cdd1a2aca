interface Bucket {
  tokens: number;
  filledAt: number;
}

/** How many buckets there may be before full ones are removed. */
const FIRST_SWEEP = 1000;

/**
 * A token bucket per project key: `perSecond` requests a second, bursts of the same size. (Spec: S8.1) Where several
 * processes share the limit, each tells the others what it let pass ({@link takePassed}), and they pay for it
 * ({@link pay}): in the long run the keys of a machine get `perSecond` together.
 */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** By the key's id. A full bucket is like one that does not exist. */
  readonly #buckets = new Map<string, Bucket>();
  #sweepAt = FIRST_SWEEP;
  /** Requests that passed since {@link takePassed}, by the key's id; absent unless other processes share the limit. */
  #passed: Map<string, number> | undefined;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** How many keys have a bucket. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes one request from the key's bucket. Returns 0 when it may pass, otherwise the seconds to wait. */
  take({ id }: { readonly id: string }): number {
    const bucket = this.#refill(id);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      this.#passed?.set(id, (this.#passed.get(id) ?? 0) + 1);
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / this.#perSecond));
  }

  /** What has passed since the last call, by the key's id. It is counted from the first call on. */
  takePassed(): ReadonlyMap<string, number> {
    const passed = this.#passed ?? new Map<string, number>();
    this.#passed = new Map();
    return passed;
  }

  /** Takes from a key's bucket what another process let pass. The bucket may owe; then the key waits until it is paid. */
  pay(id: string, count: number): void {
    this.#refill(id).tokens -= count;
  }

  #refill(id: string): Bucket {
    const now = this.#now();
    const known = this.#buckets.get(id);
    if (known !== undefined) {
      known.tokens = this.#tokensAt(known, now);
      known.filledAt = now;
      return known;
    }
    if (this.#buckets.size >= this.#sweepAt) this.#sweep(now);
    const fresh = { tokens: this.#burst, filledAt: now };
    this.#buckets.set(id, fresh);
    return fresh;
  }

  get #burst(): number {
    return Math.max(1, this.#perSecond);
  }

  #tokensAt({ tokens, filledAt }: Bucket, now: number): number {
    return Math.min(this.#burst, tokens + ((now - filledAt) / 1000) * this.#perSecond);
  }

  /** Removes the full buckets, so that nothing is kept of keys that are not in use. */
  #sweep(now: number): void {
    for (const [id, bucket] of this.#buckets) {
      if (this.#tokensAt(bucket, now) >= this.#burst) this.#buckets.delete(id);
    }
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#buckets.size);
  }
}
