/** Frames that may wait for a reader whatever their size. They are kept by reference, so all readers share them. */
export const FRAMES_HELD = 8;

/** Why a stream ended; a label of `halyard_streams_closed_total`. */
export type CloseCause = 'client' | 'slow' | 'key' | 'environment' | 'listener' | 'drain';

/**
 * One open stream. Frames are kept by reference: a thousand subscribers queue the same bytes once. A subscriber is
 * never sent half of the truth: it gets every frame, or it is cut. (Spec: Events 2)
 */
export class Subscriber {
  /** Public id of the key it was opened with; absent for readers let in by other means. */
  readonly keyId: string | undefined;
  readonly environmentId: string;
  /** The second of the keep-alive round in which this one is due; spreads the beats. */
  readonly beatSecond: number;
  readonly #stillValid: (() => Promise<boolean>) | undefined;
  readonly #maxQueuedBytes: number;
  /** The largest frame since the reader last had everything. */
  #largestFrame = 0;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(options: {
    keyId: string | undefined;
    environmentId: string;
    beatSecond: number;
    maxQueuedBytes: number;
    /** Absent for readers that are ended by their key. */
    stillValid?: () => Promise<boolean>;
  }) {
    this.keyId = options.keyId;
    this.environmentId = options.environmentId;
    this.beatSecond = options.beatSecond;
    this.#maxQueuedBytes = options.maxQueuedBytes;
    this.#stillValid = options.stillValid;
  }

  get isOpen(): boolean {
    return this.#controller !== undefined;
  }

  /** Bytes that the reader has not taken yet; `undefined` once the stream has ended. */
  get queuedBytes(): number | undefined {
    return this.#controller === undefined ? undefined : this.#queuedBytes(this.#controller);
  }

  /** Takes the stream's controller; called once, when the stream is made. */
  attach(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
  }

  /**
   * Queues a frame. Gives `false` when the reader is too slow to take it, which the hub answers by cutting it. However
   * large the frames are, {@link FRAMES_HELD} of them may wait.
   */
  send(frame: Uint8Array): boolean {
    const controller = this.#controller;
    if (controller === undefined) return true;
    const queued = this.#queuedBytes(controller);
    this.#largestFrame = Math.max(queued === 0 ? 0 : this.#largestFrame, frame.length);
    if (queued + frame.length > Math.max(this.#maxQueuedBytes, FRAMES_HELD * this.#largestFrame))
      return false;
    controller.enqueue(frame);
    return true;
  }

  /** Queues a keep-alive, unless so much waits for the reader that there is nothing to keep alive. */
  beat(bytes: Uint8Array): void {
    const { queuedBytes } = this;
    if (queuedBytes !== undefined && queuedBytes < this.#maxQueuedBytes) this.#controller?.enqueue(bytes);
  }

  /** Whether it must be asked now and then if the reader is still let in; a key's readers are ended with the key. */
  get mustBeAsked(): boolean {
    return this.#stillValid !== undefined;
  }

  /** Whether the reader is still let in. What cannot be answered counts as no: whoever may comes back and is asked. */
  async isLetIn(): Promise<boolean> {
    try {
      return (await this.#stillValid?.()) !== false;
    } catch {
      // Nobody knows, see above.
      return false;
    }
  }

  /**
   * Ends the stream; nothing more is sent. With an empty queue it is closed in order; with bytes still queued the
   * connection is reset, because closing would flush them after the fact. (Spec: Events 5)
   */
  end(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    this.#controller = undefined;
    if (this.#queuedBytes(controller) > 0) controller.error(new Error('stream cut'));
    else controller.close();
  }

  /** The reader went away on its own account. */
  detach(): void {
    this.#controller = undefined;
  }

  /** The queue's mark is zero, so what is queued is what the mark lacks. */
  #queuedBytes(controller: ReadableStreamDefaultController<Uint8Array>): number {
    return -(controller.desiredSize ?? 0);
  }
}
