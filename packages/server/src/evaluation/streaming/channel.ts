import { KEEP_ALIVE_SECONDS, ofrepEvent } from '@halyard/protocol';
import type { StateOperation } from '../../domain/project.ts';
import { EventStream, type EventStreamOptions } from '../../http/event-stream.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import type { DeliveryWatch, Frames, SentChange, StreamForm } from './delivery-watch.ts';

const encoder = new TextEncoder();

/** The fixed cost of handing a frame to one subscriber, expressed in bytes. The frame's own bytes are added to it. */
const SEND_BYTES = 2048;

/** Options of a {@link Subscriber}. */
export interface SubscriberOptions extends EventStreamOptions {
  readonly form: StreamForm;
  readonly environmentId: string;
  readonly keyId: string | undefined;
}

/** One open stream of an environment. */
export class Subscriber extends EventStream {
  readonly form: StreamForm;
  readonly environmentId: string;
  /** Public id of the key it was opened with; absent for people and tokens. */
  readonly keyId: string | undefined;
  /** The second of each keep-alive period in which this one is due; spreads them. */
  readonly keepAliveSecond = Math.floor(Math.random() * KEEP_ALIVE_SECONDS);

  constructor(options: SubscriberOptions) {
    super(options);
    this.form = options.form;
    this.environmentId = options.environmentId;
    this.keyId = options.keyId;
  }
}

/** One frame on its way to the subscribers that were there when it was made. */
interface Broadcast {
  readonly frames: Frames;
  readonly change: SentChange | undefined;
  readonly subscribers: readonly Subscriber[];
  /** How many of them it has been handed to. */
  done: number;
  /** Called once, when the frame has been handed to all of them or was abandoned. */
  readonly onOver: () => void;
}

/**
 * The subscribers of one environment and the frames on their way to them. Frames go out strictly one after another. A
 * subscriber that joins during a broadcast has the newest map already and takes no part in it.
 */
export class Channel {
  readonly subscribers = new Set<Subscriber>();
  readonly #counts: Record<StreamForm, number> = { map: 0, change: 0, event: 0 };
  readonly #onSlow: (subscriber: Subscriber) => void;
  readonly #watch: DeliveryWatch | undefined;
  /** The hub's `room` keeps it short. */
  readonly #broadcasts: Broadcast[] = [];

  constructor(onSlow: (subscriber: Subscriber) => void, watch?: DeliveryWatch) {
    this.#onSlow = onSlow;
    this.#watch = watch;
  }

  add(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    this.#counts[subscriber.form]++;
  }

  /** Returns `false` for one that was removed before. */
  remove(subscriber: Subscriber): boolean {
    if (!this.subscribers.delete(subscriber)) return false;
    this.#counts[subscriber.form]--;
    return true;
  }

  /**
   * The environment's newest revision in each form that has subscribers: a map, or what differs from the one before it, is
   * encoded only where a stream needs it.
   */
  framesOf(environment: LiveEnvironment, difference: readonly StateOperation[] | undefined): Frames {
    return {
      ...(this.#counts.map > 0 && { map: environment.frame() }),
      ...(this.#counts.change > 0 && { change: environment.change(difference) }),
      ...(this.#counts.event > 0 && { event: encoder.encode(ofrepEvent(environment.revision)) }),
    };
  }

  /** Whether frames are on their way. */
  get isSending(): boolean {
    return this.#broadcasts.length > 0;
  }

  /** Lets a frame follow those that are on their way. {@link send} hands it out. */
  broadcast(frames: Frames, change: SentChange | undefined, onOver: () => void): void {
    this.#broadcasts.push({ frames, change, subscribers: [...this.subscribers], done: 0, onOver });
  }

  /** Drops everything that has not been written yet, before all streams end. */
  abandon(): void {
    this.#watch?.look();
    for (const broadcast of this.#broadcasts.splice(0)) this.#finish(broadcast);
  }

  /** Hands out frames until they have cost as much as the budget, and returns the cost. */
  send(budget: number): number {
    let cost = 0;
    for (let [first] = this.#broadcasts; first !== undefined && cost < budget; [first] = this.#broadcasts) {
      for (; first.done < first.subscribers.length && cost < budget; first.done++) {
        // `Subscriber`: `done` is below the length.
        const subscriber = first.subscribers[first.done] as Subscriber;
        const bytes = first.frames[subscriber.form];
        cost += SEND_BYTES + (bytes?.length ?? 0);
        if (bytes !== undefined && !subscriber.send(bytes)) this.#onSlow(subscriber);
      }
      if (first.done < first.subscribers.length) break;
      this.#broadcasts.shift();
      this.#finish(first);
    }
    return cost;
  }

  #finish({ frames, subscribers, change, onOver }: Broadcast): void {
    this.#watch?.sent(frames, subscribers, change);
    onOver();
  }
}
