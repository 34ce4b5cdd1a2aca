import { KEEP_ALIVE, KEEP_ALIVE_SECONDS } from '@halyard/protocol';
import type { DeliveryProgress } from '../../domain/delivery.ts';
import type { StateOperation } from '../../domain/project.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import { Channel, Subscriber, type SubscriberOptions } from './channel.ts';
import { DeliveryWatch, type SentChange } from './delivery-watch.ts';

/** Why a stream ended; a label of `halyard_streams_closed_total`. `listener`: the node lost the change log. */
export type CloseCause = 'client' | 'slow' | 'key' | 'environment' | 'listener' | 'drain';

const encoder = new TextEncoder();
const KEEP_ALIVE_BYTES = encoder.encode(KEEP_ALIVE);

/** What frames may cost in one turn of the event loop, in bytes; between turns reads are answered. */
const SLICE_BYTES = 1024 * 1024;

/** Bytes that frames on their way to the subscribers may hold before the next change waits. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** Streams that get a comment in one turn of the event loop. */
const COMMENTS_AT_ONCE = 500;

/** One entry of a list. */
const REFERENCE_BYTES = 8;

/** Settings and callbacks of a {@link Hub}. */
export interface HubOptions {
  /** Bytes a reader may leave unread before it is cut; more where a few frames need more. */
  readonly maxQueuedBytes: number;
  /** Called for every stream that ends. */
  readonly onClosed?: (cause: CloseCause) => void;
  /** Called with the progress of each broadcast change. */
  readonly onProgress?: (progress: DeliveryProgress) => void;
}

/**
 * Every open stream of the node. Hands the same bytes to every subscriber of an environment, ends streams when their
 * key, their environment or the change log is lost, and keeps idle ones alive. (Spec: S6)
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #streamsPerKey = new Map<string, number>();
  readonly #keepAliveTimer: Timer;
  /** Held by the broadcasts that have not ended, and by those that ended in this turn of the event loop. */
  #heldBytes = 0;
  /** Those with frames on their way; the first is the next to send. */
  readonly #sending: Channel[] = [];
  /** What frames may still cost in this turn of the event loop. */
  #budget = SLICE_BYTES;
  #isScheduled = false;
  #room: PromiseWithResolvers<void> | undefined;
  #size = 0;
  #turnover = 0;
  #second = 0;
  /** One function for all streams, to save a closure in each. */
  readonly #onGone = (subscriber: Subscriber) => this.#forget(subscriber, 'client');

  constructor(options: HubOptions) {
    this.#options = options;
    this.#keepAliveTimer = setInterval(() => this.#keepAlive(), 1000);
    this.#keepAliveTimer.unref();
  }

  /** How many streams are open. */
  get size(): number {
    return this.#size;
  }

  /** How many streams have been opened and closed. While it stays the same, so do the counts. */
  get turnover(): number {
    return this.#turnover;
  }

  /** How many streams are open, by environment id and by the key's public id (empty without a key). */
  streamsByKey(): Map<string, Map<string, number>> {
    const counts = new Map<string, Map<string, number>>();
    for (const [environmentId, { subscribers }] of this.#channels) {
      const byKey = new Map<string, number>();
      for (const { keyId = '' } of subscribers) byKey.set(keyId, (byKey.get(keyId) ?? 0) + 1);
      counts.set(environmentId, byKey);
    }
    return counts;
  }

  /** How many streams of one environment are open. */
  streamsIn(environmentId: string): number {
    return this.#channels.get(environmentId)?.subscribers.size ?? 0;
  }

  /** The public ids of the keys that hold streams open. */
  openKeys(): IterableIterator<string> {
    return this.#streamsPerKey.keys();
  }

  /** How many streams one key holds open. */
  streamsOfKey(keyId: string): number {
    return this.#streamsPerKey.get(keyId) ?? 0;
  }

  /**
   * Opens a stream whose first frame is the current map. Registering and reading the map happen in this one turn, so
   * no change can fall between them. Readers without a key have `stillValid` instead: it is asked before each
   * keep-alive, and ends the stream when it says no.
   */
  open(
    environment: LiveEnvironment,
    keyId?: string,
    stillValid?: () => Promise<boolean>,
  ): ReadableStream<Uint8Array> {
    return this.#open(environment, environment.frame(), { form: 'map', keyId, stillValid });
  }

  /**
   * Opens a stream whose first event is the current map as a change from nothing, and then one event with what differs for
   * each change. Everything else is as on a stream of maps. (Spec: S26)
   */
  openChanges(environment: LiveEnvironment, keyId: string): ReadableStream<Uint8Array> {
    return this.#open(environment, environment.wholeChange(), { form: 'change', keyId });
  }

  /**
   * Opens a stream that has OFREP's event for each change instead of the map. It begins with `first`, which speaks of
   * the environment as it is now. It counts like any other stream: towards the key's limit, among the open streams, and
   * in the receipts, where it has seen a change once its reader has taken the event.
   */
  openEvents(environment: LiveEnvironment, keyId: string, first: string): ReadableStream<Uint8Array> {
    return this.#open(environment, encoder.encode(first), { form: 'event', keyId });
  }

  #open(
    environment: LiveEnvironment,
    first: Uint8Array,
    options: Omit<SubscriberOptions, 'environmentId' | 'maxQueuedBytes'>,
  ): ReadableStream<Uint8Array> {
    const { maxQueuedBytes } = this.#options;
    const subscriber = new Subscriber({ ...options, environmentId: environment.id, maxQueuedBytes });
    this.#register(subscriber);
    return subscriber.open(first, this.#onGone);
  }

  /**
   * Sends one frame to each stream of the environment: its current map, the event that it has changed, or `difference`, in
   * which it differs from the revision before. Without one, streams of changes get the whole map. (Spec: S6.2, S26.3, S26.4)
   * If `change` is given, the hub watches how many streams take the frame, and reports it as the delivery of that change.
   */
  broadcast(environment: LiveEnvironment, change?: SentChange, difference?: readonly StateOperation[]): void {
    const channel = this.#channels.get(environment.id);
    if (channel === undefined) return;

    const frames = channel.framesOf(environment, difference);
    // The broadcast holds this much memory until its end: the bytes, and the list of its subscribers.
    const bytes = (frames.map?.length ?? 0) + (frames.change?.length ?? 0);
    const held = bytes + channel.subscribers.size * REFERENCE_BYTES;
    this.#heldBytes += held;
    if (!channel.isSending) this.#sending.push(channel);
    channel.broadcast(frames, change, () => this.#release(held));
    this.#send();
  }

  /** Hands out frames, in turn from each channel that has some, until the budget of this turn is used. */
  #send(): void {
    while (this.#budget > 0) {
      const channel = this.#sending.shift();
      if (channel === undefined) break;
      this.#budget -= channel.send(this.#budget);
      if (channel.isSending) this.#sending.push(channel);
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#budget = SLICE_BYTES;
      if (this.#sending.length > 0) this.#send();
    });
  }

  /**
   * Adds a comment to each stream of maps or changes that an environment has now, some in each turn of the event loop. Skips streams
   * that are far behind.
   */
  async comment(environmentId: string, text: string): Promise<void> {
    const bytes = encoder.encode(`: ${text}\n\n`);
    for (const [index, subscriber] of [...(this.#channels.get(environmentId)?.subscribers ?? [])].entries()) {
      if (index % COMMENTS_AT_ONCE === COMMENTS_AT_ONCE - 1) await Bun.sleep(0);
      if (subscriber.form !== 'event') subscriber.keepAlive(bytes);
    }
  }

  /**
   * Asked before each change: `undefined` while few enough frames are on their way to the subscribers, otherwise a
   * promise that resolves when they are. So frames in progress never fill the memory, and a series of large changes
   * lets the event loop turn.
   */
  room(): Promise<void> | undefined {
    if (this.#heldBytes <= MAX_HELD_BYTES) return undefined;
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** In a later turn, so that frames handed out in one turn count together. */
  #release(held: number): void {
    setImmediate(() => {
      this.#heldBytes -= held;
      if (this.#heldBytes > MAX_HELD_BYTES) return;
      this.#room?.resolve();
      this.#room = undefined;
    });
  }

  /** Ends every stream of an environment. */
  closeEnvironment(environmentId: string): void {
    const channel = this.#channels.get(environmentId);
    if (channel !== undefined) this.#closeAll(channel, 'environment');
  }

  /** Ends every stream that was opened with a key. */
  closeKey(keyId: string): void {
    if (!this.#streamsPerKey.has(keyId)) return;
    for (const channel of [...this.#channels.values()]) {
      for (const subscriber of [...channel.subscribers])
        if (subscriber.keyId === keyId) this.#close(subscriber, 'key');
    }
  }

  /** The node can no longer promise every change: ends every stream at once, nothing more is sent. (Spec: S6.5) */
  closeAll(cause: CloseCause): void {
    for (const channel of [...this.#channels.values()]) this.#closeAll(channel, cause);
  }

  /** Ends the streams evenly spread over a window, so that their clients do not all return at once. */
  async drain(windowMs: number): Promise<void> {
    const subscribers = [...this.#channels.values()].flatMap((channel) => [...channel.subscribers]);
    const stepMs = 50;
    const steps = Math.max(1, Math.floor(windowMs / stepMs));
    const perStep = Math.ceil(subscribers.length / steps);
    for (let first = 0; first < subscribers.length; first += perStep) {
      for (const subscriber of subscribers.slice(first, first + perStep)) this.#close(subscriber, 'drain');
      if (first + perStep < subscribers.length) await Bun.sleep(stepMs);
    }
    this.closeAll('drain');
  }

  /** Ends everything. Safe to call twice. */
  close(): void {
    clearInterval(this.#keepAliveTimer);
    this.closeAll('drain');
  }

  #register(subscriber: Subscriber): void {
    const channel =
      this.#channels.get(subscriber.environmentId) ?? this.#addChannel(subscriber.environmentId);
    channel.add(subscriber);
    this.#size++;
    this.#turnover++;
    if (subscriber.keyId !== undefined) this.#countKey(subscriber.keyId, 1);
  }

  #addChannel(environmentId: string): Channel {
    const { onProgress } = this.#options;
    const channel = new Channel(
      (subscriber) => this.#close(subscriber, 'slow'),
      onProgress && new DeliveryWatch({ environmentId, onProgress }),
    );
    this.#channels.set(environmentId, channel);
    return channel;
  }

  #closeAll(channel: Channel, cause: CloseCause): void {
    channel.abandon();
    for (const subscriber of [...channel.subscribers]) this.#close(subscriber, cause);
  }

  #close(subscriber: Subscriber, cause: CloseCause): void {
    subscriber.end();
    this.#forget(subscriber, cause);
  }

  #forget(subscriber: Subscriber, cause: CloseCause): void {
    const channel = this.#channels.get(subscriber.environmentId);
    if (channel?.remove(subscriber) !== true) return;
    if (channel.subscribers.size === 0) this.#channels.delete(subscriber.environmentId);
    this.#size--;
    this.#turnover++;
    if (subscriber.keyId !== undefined) this.#countKey(subscriber.keyId, -1);
    this.#options.onClosed?.(cause);
  }

  #countKey(keyId: string, step: number): void {
    const count = this.streamsOfKey(keyId) + step;
    if (count === 0) this.#streamsPerKey.delete(keyId);
    else this.#streamsPerKey.set(keyId, count);
  }

  #keepAlive(): void {
    this.#second = (this.#second + 1) % KEEP_ALIVE_SECONDS;
    for (const channel of [...this.#channels.values()]) {
      for (const subscriber of channel.subscribers) {
        if (subscriber.keepAliveSecond !== this.#second) continue;
        if (subscriber.needsRecheck) void this.#recheck(subscriber);
        else subscriber.keepAlive(KEEP_ALIVE_BYTES);
      }
    }
  }

  /** Checks at once whether the streams of people and tokens may stay open. */
  recheckAll(): void {
    for (const { subscribers } of this.#channels.values())
      for (const subscriber of subscribers) if (subscriber.needsRecheck) void this.#recheck(subscriber);
  }

  async #recheck(subscriber: Subscriber): Promise<void> {
    if (await subscriber.isAuthorized()) subscriber.keepAlive(KEEP_ALIVE_BYTES);
    else this.#close(subscriber, 'key');
  }
}
