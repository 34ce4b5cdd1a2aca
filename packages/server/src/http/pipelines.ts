/** Refusals of one turn of the event loop that leave their connections open. */
const MOST_REFUSALS = 100;

/**
 * Notices when a turn of the event loop answers more refusals than ordinary callers cause. Bun answers all requests that one
 * connection has sent at once before it serves another connection, so a few connections without a key could keep readers
 * waiting. An answer that closes its connection ends that: Bun drops what was sent behind it. (Spec: S14.14)
 */
export class RefusalBursts {
  #inTurn = 0;

  /** Counts a refusal. Returns whether its connection should end with it. */
  count(): boolean {
    if (this.#inTurn === 0) {
      setImmediate(() => {
        this.#inTurn = 0;
      });
    }
    return ++this.#inTurn > MOST_REFUSALS;
  }
}
