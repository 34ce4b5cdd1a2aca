/** How fast two monotonic clocks may drift apart: 0.2 milliseconds a second. */
const DRIFT = 0.0002;

/**
 * When a message was sent, by the receiver's clock. The difference of the two clocks lies between two bounds: a message
 * arrives after it was sent, and a question is answered after it was asked. The lower bound counts, so a delay on the way
 * counts as age; each question can raise it, so a slow start does not stay, and neither does a slow drift.
 */
export class ClockOffset {
  /** The receiver's clock minus the sender's, at least. */
  #offset: number;
  #at: number;

  /** `begunAt`: when the request was sent, which is at or before the zero of the sender's clock. */
  constructor(begunAt: number) {
    this.#offset = begunAt;
    this.#at = begunAt;
  }

  /** A question that was asked at `askedAt` was answered when the sender's clock was at `sentMs`. */
  answered(askedAt: number, sentMs: number): void {
    this.#offset = Math.max(this.#offset, askedAt - sentMs);
  }

  /** When a message was sent that arrives at `now`. */
  sentAt(now: number, sentMs: number): number {
    this.#offset = Math.min(this.#offset + (now - this.#at) * DRIFT, now - sentMs);
    this.#at = now;
    return this.#offset + sentMs;
  }
}
