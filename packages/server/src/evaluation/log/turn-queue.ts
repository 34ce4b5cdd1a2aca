import { turn } from '../replication/pacing.ts';

/** Gives work that takes a while one turn of the event loop each, so that timers and reads have theirs in between. */
export class TurnQueue {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in a turn that nothing else gets from here. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => turn());
    return this.#last;
  }
}
