/** What decides about one reader of the event stream. */
export interface EventReaderOptions {
  /** Only events of this project, and those that belong to none; absent: every event. */
  readonly project: string | undefined;
  /** Whether the reader is still let in. */
  readonly stillValid: () => Promise<boolean>;
}

/** Bytes a screen may leave unread before it is cut; it comes back and fetches anew. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** One open stream of events for screens. It gets every event that concerns it, in order, or it ends. */
export class EventReader {
  readonly #options: EventReaderOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isChecking = false;

  constructor(options: EventReaderOptions) {
    this.#options = options;
  }

  /** The stream's body. `onGone` is called when the reader leaves on its own account. */
  open(first: Uint8Array, onGone: () => void): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(first);
        },
        cancel: () => {
          this.#controller = undefined;
          onGone();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
    );
  }

  /** Whether an event of this project concerns the reader. */
  wants(project: string | undefined): boolean {
    return project === undefined || this.#options.project === undefined || this.#options.project === project;
  }

  /** Queues bytes. `false`: too much is waiting already, and the reader must be cut. */
  send(bytes: Uint8Array): boolean {
    const controller = this.#controller;
    if (controller === undefined) return true;
    if (queuedBytes(controller) > MAX_QUEUED_BYTES) return false;
    controller.enqueue(bytes);
    return true;
  }

  /** Asks whether the reader is still let in. One question at a time; one that cannot be answered counts as no. */
  async isLetIn(): Promise<boolean> {
    if (this.#isChecking) return true;
    this.#isChecking = true;
    try {
      return await this.#options.stillValid();
    } catch {
      // Nobody knows, so the reader comes back and is asked who it is: fail closed.
      return false;
    } finally {
      this.#isChecking = false;
    }
  }

  /** Ends the stream; what is still queued is dropped with the connection. Safe to call twice. */
  end(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    this.#controller = undefined;
    if (queuedBytes(controller) > 0) controller.error(new Error('stream cut'));
    else controller.close();
  }
}

/** The queue's mark is zero, so what is queued is what the mark lacks. */
function queuedBytes(controller: ReadableStreamDefaultController<Uint8Array>): number {
  return -(controller.desiredSize ?? 0);
}
