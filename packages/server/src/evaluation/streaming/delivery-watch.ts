import type { DeliveryProgress } from '../../domain/delivery.ts';

/**
 * What a stream sends for each change. `map`: the whole map, `change`: what differs from the map before it, `event`: that its
 * reader should read again.
 */
export type StreamForm = 'map' | 'change' | 'event';

/** The bytes of one change in each form that has streams. */
export type Frames = Readonly<Partial<Record<StreamForm, Uint8Array>>>;

/** A stream that frames are sent to. */
export interface WatchedStream {
  readonly form: StreamForm;
  /** Bytes that the reader has not taken yet; `undefined` once the stream has ended. */
  readonly queuedBytes: number | undefined;
}

/** The change that a frame carries. */
export interface SentChange {
  readonly seq: number;
  /** Epoch milliseconds of the commit, by the writer's clock. */
  readonly at: number;
}

/** Milliseconds between one look at the streams and the next; the last one repeats. */
const LOOKS_MS = [1, 2, 5, 10, 20, 50, 100, 250, 500, 1000] as const;

/** A stream that has not taken a frame by then counts as not having seen it, in milliseconds. */
const PATIENCE_MS = 5000;

/** Frames that are watched at once; older ones are settled as they are. */
const MAX_WATCHED = 1000;

/** One frame that went out and is not settled. */
interface WatchedFrame {
  readonly change: SentChange;
  /** The streams it was sent to; dropped after the first look. */
  subscribers: readonly WatchedStream[];
  readonly streams: number;
  /** Bytes sent to each stream of a form up to and including this frame. */
  readonly marks: Readonly<Record<StreamForm, number>>;
  readonly sentAt: number;
  seen: number;
  closed: number;
  slowestMs: number;
  /** `seen + closed` at the last report. */
  reported: number;
}

/** Parts of a {@link DeliveryWatch}. */
export interface DeliveryWatchOptions {
  readonly environmentId: string;
  /** Called with every progress, the last of which is settled. Must not throw. */
  readonly onProgress: (progress: DeliveryProgress) => void;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Milliseconds on a monotonic clock. */
  readonly elapsed?: () => number;
}

/**
 * Finds out which streams of one environment have taken which frames: after each frame, and then less and less often,
 * it looks at how much each stream has queued. Streams take frames in order, and all streams of a form get the same bytes,
 * so a stream that has no more queued than was sent after a frame has taken that frame and all before it. Only streams
 * that are behind are remembered, each once, however many frames they are behind.
 */
export class DeliveryWatch {
  readonly #options: DeliveryWatchOptions;
  readonly #now: () => number;
  readonly #elapsed: () => number;
  /** In the order they were sent; they settle in this order too. The first has the number `#first`. */
  readonly #frames: WatchedFrame[] = [];
  /** Streams that have not taken everything, with the number of the first frame they have not taken. */
  readonly #behind = new Map<WatchedStream, number>();
  #first = 0;
  /** Frames with a number below this one have had their first look. */
  #looked = 0;
  #sentBytes: Readonly<Record<StreamForm, number>> = { map: 0, change: 0, event: 0 };
  #timer: Timer | undefined;
  #step = 0;

  constructor(options: DeliveryWatchOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  /** A frame has been sent to each of `subscribers`, in its form. Frames without a change are only counted. */
  sent(
    { map, change: difference, event }: Frames,
    subscribers: readonly WatchedStream[],
    change?: SentChange,
  ): void {
    this.#sentBytes = {
      map: this.#sentBytes.map + (map?.length ?? 0),
      change: this.#sentBytes.change + (difference?.length ?? 0),
      event: this.#sentBytes.event + (event?.length ?? 0),
    };
    if (change === undefined) return;

    this.#frames.push({
      change,
      subscribers,
      streams: subscribers.length,
      marks: this.#sentBytes,
      sentAt: this.#elapsed(),
      seen: 0,
      closed: 0,
      slowestMs: 0,
      reported: -1,
    });

    // The next look includes this frame; delaying it for each frame could delay it forever.
    if (this.#timer !== undefined && this.#step === 1) return;
    this.#step = 0;
    this.#schedule();
  }

  /** Looks at the streams now. Ten thousand of them that keep up take a quarter of a millisecond. */
  look(): void {
    if (this.#frames.length === 0) return;
    const now = this.#now();
    this.#lookAtThoseBehind(now);
    for (; this.#looked < this.#first + this.#frames.length; this.#looked++) {
      const frame = this.#frame(this.#looked);
      this.#lookAtAll(frame, now);
      frame.subscribers = [];
    }
    this.#report();
    this.#schedule();
  }

  #frame(number: number): WatchedFrame {
    // `WatchedFrame`: callers ask for numbers from `#first` to the last one sent.
    return this.#frames[number - this.#first] as WatchedFrame;
  }

  #hasTaken({ form }: WatchedStream, { marks }: WatchedFrame, queued: number): boolean {
    return queued <= this.#sentBytes[form] - marks[form];
  }

  /** The first look at a frame: nearly every stream has taken it. */
  #lookAtAll(frame: WatchedFrame, now: number): void {
    const isAnyBehind = this.#behind.size > 0;
    for (const subscriber of frame.subscribers) {
      const queued = subscriber.queuedBytes;
      if (queued === undefined) frame.closed++;
      else if (isAnyBehind && this.#behind.has(subscriber)) continue;
      else if (this.#hasTaken(subscriber, frame, queued)) see(frame, now);
      else this.#behind.set(subscriber, this.#looked);
    }
  }

  /** Advances the streams that were behind. Those that have ended have not seen the rest. */
  #lookAtThoseBehind(now: number): void {
    for (const [subscriber, number] of this.#behind) {
      const queued = subscriber.queuedBytes;
      let next = Math.max(number, this.#first);
      for (; next < this.#looked; next++) {
        const frame = this.#frame(next);
        if (queued === undefined) frame.closed++;
        else if (this.#hasTaken(subscriber, frame, queued)) see(frame, now);
        else break;
      }
      if (next === this.#looked) this.#behind.delete(subscriber);
      else this.#behind.set(subscriber, next);
    }
  }

  /** Reports the frames that have progressed, and drops those that are settled. */
  #report(): void {
    const since = this.#elapsed() - PATIENCE_MS;
    const surplus = this.#frames.length - MAX_WATCHED;

    let settled = 0;
    for (const [index, frame] of this.#frames.entries()) {
      const { streams, seen, closed, slowestMs, sentAt } = frame;
      const isSettled = seen + closed === streams || sentAt <= since || index < surplus;
      if (isSettled) settled = index + 1;
      if (!isSettled && frame.reported === seen + closed) continue;

      frame.reported = seen + closed;
      const { environmentId } = this.#options;
      this.#options.onProgress({
        seq: frame.change.seq,
        environmentId,
        streams,
        seen,
        closed,
        slowestMs,
        isSettled,
      });
    }

    this.#frames.splice(0, settled);
    this.#first += settled;
    if (this.#frames.length === 0) this.#behind.clear();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#frames.length === 0) return;
    const delayMs = LOOKS_MS[Math.min(this.#step++, LOOKS_MS.length - 1)];
    this.#timer = setTimeout(() => this.look(), delayMs);
    this.#timer.unref();
  }
}

function see(frame: WatchedFrame, now: number): void {
  frame.seen++;
  frame.slowestMs = Math.max(frame.slowestMs, now - frame.change.at);
}
