/** Only answers that stream without an end have this field. */
export const UNBUFFERED_FIELD = 'X-Accel-Buffering';

/**
 * Fields of every answer that streams. Proxies must not collect it, and the connection ends with it: it was allowed to be
 * silent, and Bun would let it be silent forever.
 */
export const STREAM_FIELDS = { [UNBUFFERED_FIELD]: 'no', Connection: 'close' } as const;

/** Frames that may wait for a reader whatever their size. They are kept by reference, so all readers share them. */
const FRAMES_HELD = 8;

/**
 * Larger frames go out in pieces. Bun keeps a copy of the rest of a piece that its reader does not take, so a reader that
 * has stopped costs a piece instead of a frame. Pieces of 64 KiB cost a quarter more processor time; these cost nothing.
 */
const MAX_PIECE_BYTES = 256 * 1024;

/** Options of an {@link EventStream}. */
export interface EventStreamOptions {
  /** Bytes a reader may leave unread before it is cut; more where a few frames need more. */
  readonly maxQueuedBytes: number;
  /** Whether the reader's session or token is still valid. Absent for streams that end with their project key. */
  readonly stillValid?: (() => Promise<boolean>) | undefined;
}

/**
 * One open stream of server-sent events, with a bounded queue. Frames are kept by reference: a thousand streams queue
 * the same bytes once. A reader gets every frame in order, or it is cut. (Spec: S6.2)
 */
export class EventStream {
  readonly #stillValid: (() => Promise<boolean>) | undefined;
  readonly #maxQueuedBytes: number;
  /** The largest frame since the reader last had everything. */
  #largestFrame = 0;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The callers of {@link isAuthorized} since the check in progress began. */
  #checksWanted = 0;

  constructor({ maxQueuedBytes, stillValid }: EventStreamOptions) {
    this.#maxQueuedBytes = maxQueuedBytes;
    this.#stillValid = stillValid;
  }

  /**
   * The body of the response, beginning with `first`; called once. `onGone` is called when the reader leaves by itself.
   * It takes the stream, so that all streams can share one function.
   */
  open(first: Uint8Array, onGone: (stream: this) => void): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.send(first);
        },
        cancel: () => {
          this.#controller = undefined;
          onGone(this);
        },
      },
      // With a high-water mark of 0, `-desiredSize` is the number of queued bytes. For a larger mark Bun reserves 7 KiB
      // for each stream (bench/streams.ts).
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
    );
  }

  /** Bytes that the reader has not taken yet; `undefined` once the stream has ended. */
  get queuedBytes(): number | undefined {
    return this.#controller === undefined ? undefined : queuedIn(this.#controller);
  }

  /**
   * Queues a frame. `false`: the reader is too slow to take it and must be cut. However large the frames are,
   * {@link FRAMES_HELD} of them may wait. A stream that has ended takes and drops everything.
   */
  send(frame: Uint8Array): boolean {
    const controller = this.#controller;
    if (controller === undefined) return true;
    const queued = queuedIn(controller);
    this.#largestFrame = Math.max(queued === 0 ? 0 : this.#largestFrame, frame.length);
    if (queued + frame.length > Math.max(this.#maxQueuedBytes, FRAMES_HELD * this.#largestFrame))
      return false;
    if (frame.length <= MAX_PIECE_BYTES) controller.enqueue(frame);
    else for (const piece of piecesOf(frame)) controller.enqueue(piece);
    return true;
  }

  /** Queues a keep-alive, unless so much waits for the reader that the connection is busy anyway. */
  keepAlive(bytes: Uint8Array): void {
    const { queuedBytes } = this;
    if (queuedBytes !== undefined && queuedBytes < this.#maxQueuedBytes) this.#controller?.enqueue(bytes);
  }

  /** Whether {@link isAuthorized} can change while the stream is open. */
  get needsRecheck(): boolean {
    return this.#stillValid !== undefined;
  }

  /**
   * Whether the reader may still read. One check at a time: while it runs the answer is yes, and it is repeated for those
   * who asked, because it may have begun before a change. A check that fails counts as no, because the reader can
   * reconnect and authenticate.
   */
  async isAuthorized(): Promise<boolean> {
    if (this.#stillValid === undefined) return true;
    this.#checksWanted++;
    if (this.#checksWanted > 1) return true;
    try {
      for (;;) {
        const wanted = this.#checksWanted;
        if (!(await this.#stillValid())) return false;
        if (wanted === this.#checksWanted) return true;
      }
    } catch {
      // Fail closed.
      return false;
    } finally {
      this.#checksWanted = 0;
    }
  }

  /**
   * Ends the stream; nothing more is sent. With an empty queue it is closed in order; with bytes still queued the
   * connection is reset, because closing would flush them after the fact. (Spec: S6.5) Safe to call twice.
   */
  end(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    this.#controller = undefined;
    if (queuedIn(controller) > 0) controller.error(new Error('stream cut'));
    else controller.close();
  }
}

/** The queue's mark is zero, so what is queued is what the mark lacks. */
function queuedIn(controller: ReadableStreamDefaultController<Uint8Array>): number {
  return -(controller.desiredSize ?? 0);
}

function* piecesOf(frame: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < frame.length; start += MAX_PIECE_BYTES)
    yield frame.subarray(start, start + MAX_PIECE_BYTES);
}
