import { EventStream, type EventStreamOptions } from '../../http/event-stream.ts';
import type { DeliveryWatch, SentChange } from './delivery-watch.ts';

/** Subscribers written to in one turn of the event loop; between turns reads are answered. */
const SLICE = 400;

/** Options of a {@link Subscriber}. */
export interface SubscriberOptions extends EventStreamOptions {
  readonly keyId: string | undefined;
  readonly environmentId: string;
  readonly keepAliveSecond: number;
}

/** One open stream of an environment. */
export class Subscriber extends EventStream {
  /** Public id of the key it was opened with; absent for people and tokens. */
  readonly keyId: string | undefined;
  readonly environmentId: string;
  /** The second of each round of keep-alives in which this one is due; spreads them. */
  readonly keepAliveSecond: number;

  constructor(options: SubscriberOptions) {
    super(options);
    this.keyId = options.keyId;
    this.environmentId = options.environmentId;
    this.keepAliveSecond = options.keepAliveSecond;
  }
}

/** A frame for every subscriber. */
export interface Round {
  readonly bytes: Uint8Array;
  readonly change: SentChange | undefined;
  /** Called once, when the frame has been handed to all of them or was abandoned. */
  readonly onOver: () => void;
}

interface Delivery extends Round {
  readonly subscribers: readonly Subscriber[];
  next: number;
}

/**
 * The subscribers of one environment and the frames on their way to them. Frames go out strictly one after another;
 * a long round is cut into slices so that it never delays a read. A subscriber that joins during a round has the
 * newest map already and takes no part in it.
 */
export class Channel {
  readonly subscribers = new Set<Subscriber>();
  readonly #onSlow: (subscriber: Subscriber) => void;
  readonly #watch: DeliveryWatch | undefined;
  readonly #deliveries: Delivery[] = [];
  #scheduled = false;

  /** `watch` is called after every round. */
  constructor(onSlow: (subscriber: Subscriber) => void, watch?: DeliveryWatch) {
    this.#onSlow = onSlow;
    this.#watch = watch;
  }

  /**
   * Sends the frame to all current subscribers. The queue is unbounded here: the hub's `room` keeps it short.
   */
  broadcast(round: Round): void {
    this.#deliveries.push({ ...round, subscribers: [...this.subscribers], next: 0 });
    if (!this.#scheduled) this.#deliverSlice();
  }

  /** Drops everything that has not been written yet, before all streams end. */
  abandon(): void {
    this.#watch?.look();
    for (const delivery of this.#deliveries.splice(0)) this.#isOver(delivery);
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
      if (delivery.next < delivery.subscribers.length) break;
      this.#deliveries.shift();
      this.#isOver(delivery);
    }
    if (this.#deliveries.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => this.#deliverSlice());
  }

  #isOver({ bytes, subscribers, change, onOver }: Delivery): void {
    this.#watch?.sent(bytes.length, subscribers, change);
    onOver();
  }

  #deliver(subscriber: Subscriber | undefined, bytes: Uint8Array): void {
    if (subscriber?.send(bytes) === false) this.#onSlow(subscriber);
  }
}
