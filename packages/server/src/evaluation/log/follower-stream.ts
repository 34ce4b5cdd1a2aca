import { encodeMessage } from './framing.ts';
import type { EndReason } from './messages.ts';

/** Longest a follower may take no byte while something waits for it, in milliseconds. */
const STUCK_MS = 10_000;

/** Parts of a {@link FollowerStream}. */
export interface FollowerStreamOptions {
  readonly name: string;
  readonly hello: Uint8Array;
  /** The pieces of a snapshot, sent after `hello`; without it the stream continues after row `seq`. */
  readonly snapshot: Iterator<Uint8Array> | undefined;
  /** Where the follower is, with the snapshot if there is one. */
  readonly seq: number;
  /** The message with the row after `seq`; `undefined` at the end of the log. */
  readonly rowAfter: (seq: number) => Uint8Array | undefined;
  /** Whether the row after `seq` has been dropped from the backlog. */
  readonly hasLost: (seq: number) => boolean;
  /** Resolves when the next piece of a snapshot may be made. */
  readonly turn: () => Promise<void>;
  /** Milliseconds since this node was last proven current. */
  readonly ageMs: () => number;
  /** Called once when the stream has ended for any reason. */
  readonly onGone: (stream: FollowerStream) => void;
}

/**
 * The log as one follower gets it. Messages are made when its socket takes them, so a slow one holds nothing but its
 * position, until the backlog has moved past that.
 */
export class FollowerStream {
  readonly #options: Omit<FollowerStreamOptions, 'snapshot'>;
  readonly #begunAt = performance.now();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #sentHello = false;
  /** Until its last piece has been sent. */
  #snapshot: Iterator<Uint8Array> | undefined;
  #seq: number;
  #isHeartbeatDue = true;
  /** Resolves when there may be something to send. Present while the socket would take it. */
  #waiting: PromiseWithResolvers<void> | undefined;
  #pulledAt = performance.now();

  constructor(options: FollowerStreamOptions) {
    const { snapshot, ...rest } = options;
    this.#options = rest;
    this.#snapshot = snapshot;
    this.#seq = options.seq;
  }

  /** Names the stream among all. */
  get name(): string {
    return this.#options.name;
  }

  /** Whether a snapshot is still being sent. */
  get isLoading(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Milliseconds since this stream began. */
  sentMs(): number {
    return performance.now() - this.#begunAt;
  }

  /** The body of the response; called once. */
  open(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#gone(),
      },
      { highWaterMark: 0 },
    );
  }

  /** The log has grown. Ends a follower that is so slow that the backlog has moved past it. */
  wake(): void {
    if (this.#waiting !== undefined) this.#waiting.resolve();
    else if (this.#options.hasLost(this.#seq)) this.end('slow');
  }

  /** Sends a heartbeat once every row has been sent; ends a follower that takes nothing. */
  heartbeat(): void {
    this.#isHeartbeatDue = true;
    if (this.#waiting === undefined && performance.now() - this.#pulledAt > STUCK_MS) this.end('slow');
    else this.wake();
  }

  /** Ends the stream at once. The reason is only sent where nothing else waits to be sent. Safe to call twice. */
  end(reason: EndReason): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    const isIdle = this.#waiting !== undefined;
    this.#gone();
    if (!isIdle) {
      // Without a reason, which the runtime would print between the lines of the log.
      controller.error();
      return;
    }
    controller.enqueue(encodeMessage({ type: 'end', reason }));
    controller.close();
  }

  #gone(): void {
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    this.#snapshot = undefined;
    this.#waiting?.resolve();
    this.#options.onGone(this);
  }

  /** Called when the socket takes more: waits until there is something. */
  async #pull(): Promise<void> {
    this.#pulledAt = performance.now();
    while (this.#controller !== undefined) {
      if (this.#options.hasLost(this.#seq)) {
        this.end('slow');
        return;
      }

      if (this.#sentHello && this.#snapshot !== undefined) {
        await this.#options.turn();
        this.#pulledAt = performance.now();
        if (this.#controller === undefined) return;
      }

      const next = this.#next();
      if (next !== undefined) {
        this.#controller.enqueue(next);
        return;
      }

      this.#waiting = Promise.withResolvers();
      await this.#waiting.promise;
      this.#waiting = undefined;
      this.#pulledAt = performance.now();
    }
  }

  #next(): Uint8Array | undefined {
    const { hello, rowAfter, ageMs } = this.#options;
    if (!this.#sentHello) {
      this.#sentHello = true;
      return hello;
    }
    const piece = this.#snapshot?.next();
    if (piece !== undefined && piece.done !== true) return piece.value;
    this.#snapshot = undefined;
    const row = rowAfter(this.#seq);
    if (row !== undefined) {
      this.#seq++;
      return row;
    }
    if (!this.#isHeartbeatDue) return undefined;
    this.#isHeartbeatDue = false;
    return encodeMessage({ type: 'heartbeat', seq: this.#seq, sentMs: this.sentMs(), ageMs: ageMs() });
  }
}
