import type { Queryable } from './database.ts';
import type { Journal } from './journal.ts';

/**
 * A transaction that writes what is no change, and leaves no row in a log: a lease, a position, the time of the last use.
 * Reads need a {@link Queryable} only, of which a snapshot is one.
 */
export interface UnloggedTx extends Queryable {
  /** Epoch milliseconds, by the clock of the store. */
  now(): number;
}

/** The transaction of one operation. A function that writes through it also leaves the audit entry in the journal. */
export interface Tx extends UnloggedTx {
  readonly journal: Journal;
  /**
   * Locks operators, links and access tokens until the commit: what is read next stays true. Checks the author's rights, as the
   * commit does.
   */
  lockPeople(): Promise<void>;
}
