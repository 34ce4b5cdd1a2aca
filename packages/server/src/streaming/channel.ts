import type { Subscriber } from './subscriber.ts';

/** Subscribers written to in one turn of the event loop; between turns reads are answered. */
const SLICE = 400;

interface Delivery {
  readonly bytes: Uint8Array;
  readonly subscribers: readonly Subscriber[];
  next: number;
}

/**
 * The subscribers of one environment and the frames on their way to them. Frames go out strictly one after another;
 * a long round is cut in slices so that it never holds up a read. A subscriber that joins during a round has the
 * newest map already and takes no part in it.
 */
export class Channel {
  readonly subscribers = new Set<Subscriber>();
  readonly #onSlow: (subscriber: Subscriber) => void;
  readonly #deliveries: Delivery[] = [];
  #scheduled = false;

  constructor(onSlow: (subscriber: Subscriber) => void) {
    this.#onSlow = onSlow;
  }

  /** Sends the bytes to everybody who is subscribed at this moment. */
  broadcast(bytes: Uint8Array): void {
    if (this.subscribers.size === 0) return;
    this.#deliveries.push({ bytes, subscribers: [...this.subscribers], next: 0 });
    if (!this.#scheduled) this.#deliverSlice();
  }

  /** Drops everything that has not been written yet. */
  abandon(): void {
    this.#deliveries.length = 0;
  }

  #deliverSlice(): void {
    this.#scheduled = false;
    let budget = SLICE;
    for (
      let delivery = this.#deliveries[0];
      delivery !== undefined && budget > 0;
      delivery = this.#deliveries[0]
    ) {
      const end = Math.min(delivery.next + budget, delivery.subscribers.length);
      budget -= end - delivery.next;
      for (; delivery.next < end; delivery.next++)
        this.#deliver(delivery.subscribers[delivery.next], delivery.bytes);
      if (delivery.next === delivery.subscribers.length) this.#deliveries.shift();
    }
    if (this.#deliveries.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => this.#deliverSlice());
  }

  #deliver(subscriber: Subscriber | undefined, bytes: Uint8Array): void {
    if (subscriber?.send(bytes) === false) this.#onSlow(subscriber);
  }
}
