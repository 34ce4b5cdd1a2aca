import type { Actor } from '../domain/audit.ts';
import type { Environment } from '../domain/project.ts';
import type { Queryable, WriteTransaction } from './database.ts';
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
  /** The journal of what another person does in this transaction: a change of its own, before that of {@link journal}. */
  journalOf(actor: Actor): Journal;
  /** The environments that this transaction has locked, by id, as they are now. */
  readonly locked: Map<string, Environment>;
  /** What {@link lockPeople} does first: locks that come before that on people, for work that follows it. */
  beforePeople?: () => Promise<unknown>;
  /**
   * Locks operators, links and access tokens until the commit: what is read next stays true. Checks the author's rights, as the
   * commit does.
   */
  lockPeople(): Promise<void>;
}

/** The transaction of several operations that commit together, each with a change of its own. */
export interface GroupTx {
  readonly sql: WriteTransaction;
  /** Epoch milliseconds, by the clock of the store. */
  now(): number;
  /** An empty journal, for an operation of this actor. */
  journalOf(actor: Actor): Journal;
}

/** What a {@link GroupTx} did: its authors, those that changed nothing included, and the journals of those that did. */
export interface GroupWork<T> {
  readonly result: T;
  readonly authors: readonly Actor[];
  readonly journals: readonly Journal[];
}

/** A {@link GroupWork} that has committed, with the last `seq` of each journal. */
export interface GroupDone<T> {
  readonly result: T;
  readonly seqs: readonly number[];
}
