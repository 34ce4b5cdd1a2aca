import type { Queryable } from '../storage/database.ts';
import type { GroupDone, GroupTx, GroupWork, Tx, UnloggedTx } from '../storage/tx.ts';
import type { Actor } from './audit.ts';
import type { StateText, StoredState } from './project.ts';

/** A part of a list: at most `limit` items after a place in it, which has the values that the list is sorted by. */
export interface PageOf<Place> {
  readonly limit: number;
  /** Absent: from the beginning. */
  readonly after?: Place;
}

/** A state with the id of its environment. */
export type PlacedState = StoredState & { readonly environmentId: string };

/** The states of an archived flag as they were, by environment id. */
export type ArchivedStates = ReadonlyMap<string, StateText>;

/** The result of a committed operation. */
export interface Committed<T> {
  readonly result: T;
  /** The last change-log row it wrote; `undefined` when it wrote none. */
  readonly seq?: number;
}

/**
 * Where projects, environments, flags and keys are kept. The port of the management side; `storage` implements it.
 * Failures other than {@link ServiceError} (a lost database, a full disk) reject with the engine's error.
 */
export interface Store extends Queryable {
  /** Runs reads in one consistent snapshot. */
  read<T>(work: (db: Queryable) => Promise<T>): Promise<T>;
  /** Runs writes that are no change in one transaction: no log row, no audit row. `work` may run again, as in {@link commit}. */
  unlogged<T>(work: (tx: UnloggedTx) => Promise<T>): Promise<T>;
  /**
   * Runs one operation in one transaction: state, change log and audit log commit together. Rejects with `RightsChanged`, and
   * changes nothing, when the actor's credential has ended by then or gives other rights. When the connection is
   * lost during COMMIT, the outcome is looked up by change id before this settles. `work` may run again from its
   * beginning after a conflict with another writer, so it must base its decisions on what it reads there.
   */
  commit<T>(actor: Actor, work: (tx: Tx) => Promise<T>): Promise<Committed<T>>;
  /**
   * Runs several operations in one transaction, each with a journal and so with a change of its own; otherwise as {@link commit}.
   * The rights of all authors are checked.
   */
  commitGroup<T>(work: (tx: GroupTx) => Promise<GroupWork<T>>): Promise<GroupDone<T>>;
}
