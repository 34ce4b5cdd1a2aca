import type { Queryable } from '../storage/database.ts';
import type { GroupDone, GroupTx, GroupWork, Tx, UnloggedTx } from '../storage/tx.ts';
import type { Actor } from './audit.ts';
import type { Environment, Flag, Project, ProjectKey, StateText, StoredState } from './project.ts';

/**
 * Reads of the management side. Lists are sorted by name or key (code units), environments by position first, audit
 * entries newest first.
 */
export interface StoreReader extends Queryable {
  projects(): Promise<readonly Project[]>;
  project(name: string): Promise<Project | undefined>;
  environments(projectId: string): Promise<readonly Environment[]>;
  environment(projectId: string, name: string): Promise<Environment | undefined>;
  /** With `page`, one flag more than it takes at most. */
  flags(projectId: string, page?: PageOf<readonly [key: string]>): Promise<readonly Flag[]>;
  flag(projectId: string, key: string): Promise<Flag | undefined>;
  /** The states of an archived flag, by environment id; empty for a flag that is not archived. */
  archivedStates(flag: Pick<Flag, 'projectId' | 'key'>): Promise<ArchivedStates>;
  /** The states of all archived flags of the project, by key. */
  archivedStatesIn(projectId: string): Promise<ReadonlyMap<string, ArchivedStates>>;
  /** With `page`, one state more than it takes at most. */
  states(environmentId: string, page?: PageOf<readonly [key: string]>): Promise<readonly StoredState[]>;
  state(environmentId: string, flagKey: string): Promise<StoredState | undefined>;
  /** The states of these flags, or of all flags of the project, each with its environment; in no order. */
  statesIn(projectId: string, flagKeys?: readonly string[]): Promise<readonly PlacedState[]>;
  /** Every key of the project, also revoked and expired ones. With `page`, one key more than it takes at most. */
  keys(projectId: string, page?: PageOf<readonly [name: string, id: string]>): Promise<readonly ProjectKey[]>;
  key(id: string): Promise<ProjectKey | undefined>;
  /** Searches for `text`, ignoring case; returns the best hits first. */
  search(text: string, query: SearchQuery): Promise<readonly SearchHit[]>;
}

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

/**
 * The writes of one management operation. Each appends its change-log and audit rows to the same transaction;
 * all become visible together or not at all. Callers check the rules first; the methods assume they hold, except
 * that inserting a name, key or id that exists is refused with `already_exists`.
 */
export interface StoreTransaction extends StoreReader, Tx {
  insertProject(project: Project): Promise<void>;
  /** Asks the clients of the project to report reads, since that time (epoch milliseconds), or no longer does. */
  setUsage(project: Project, since: number | undefined): Promise<void>;
  /** Removes the project with its environments, flags, states and keys. */
  deleteProject(project: Project): Promise<void>;
  /**
   * Inserts the environment, or revives a deleted one of that name with its old id and the next revision. Returns the
   * stored one.
   */
  insertEnvironment(environment: Environment): Promise<Environment>;
  /** Removes the environment's states; the name may be used again. */
  deleteEnvironment(environment: Environment): Promise<void>;
  /**
   * Locks the environment until commit and returns its current record, so that later reads stay true.
   * Several environments are locked in order of their ids. `undefined` when it does not exist.
   */
  lockEnvironment(id: string): Promise<Environment | undefined>;
  /**
   * Locks the project until commit; before its environments, so that two operations never wait for each other. Needed to
   * add an environment, and to change what all environments of the project must agree on.
   */
  lockProject(id: string): Promise<void>;
  /** Replaces the appearance of the environment: `protected`, `color`, `position`. No revision, no frame. */
  updateEnvironment(environment: Environment): Promise<void>;
  /** Inserts the flag, or replaces its details. No revision, no frame. */
  putFlag(flag: Flag): Promise<void>;
  /** Inserts flags that the project does not have, many per statement; otherwise as {@link putFlag}. */
  insertFlags(flags: readonly Flag[]): Promise<void>;
  /** Removes the flag from the project; its states must have been removed by `changeStates`. */
  deleteFlag(flag: Flag): Promise<void>;
  /**
   * Marks the flag as archived since `at` (epoch milliseconds) and keeps what its states were; the states themselves
   * must have been removed by `changeStates`.
   */
  archiveFlag(flag: Flag, archived: { readonly at: number; readonly states: ArchivedStates }): Promise<void>;
  /** Inserts a flag that the project does not have as archived since `archivedAt`. */
  insertArchivedFlag(flag: Flag & { readonly archivedAt: number }, states: ArchivedStates): Promise<void>;
  /** Ends the archiving of the flag and forgets what its states were. */
  restoreFlag(flag: Flag): Promise<void>;
  /** Inserts a deleted flag again, archived if it was archived. */
  recreateFlag(flag: Flag, states: ArchivedStates): Promise<void>;
  insertKey(key: ProjectKey, digest: string): Promise<void>;
  /** Marks the key revoked. A revoked key stays as it is. */
  revokeKey(key: ProjectKey, at: number): Promise<void>;
}

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
  read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T>;
  /** Runs writes that are no change in one transaction: no log row, no audit row. `work` may run again, as in {@link commit}. */
  unlogged<T>(work: (tx: UnloggedTx) => Promise<T>): Promise<T>;
  /**
   * Runs one operation in one transaction: state, change log and audit log commit together. Rejects with `RightsChanged`, and
   * changes nothing, when the actor's credential has ended by then or gives other rights. When the connection is
   * lost during COMMIT, the outcome is looked up by change id before this settles. `work` may run again from its
   * beginning after a conflict with another writer, so it must base its decisions on what it reads there.
   */
  commit<T>(actor: Actor, work: (transaction: StoreTransaction) => Promise<T>): Promise<Committed<T>>;
  /**
   * Runs several operations in one transaction, each with a journal and so with a change of its own; otherwise as {@link commit}.
   * The rights of all authors are checked.
   */
  commitGroup<T>(work: (tx: GroupTx) => Promise<GroupWork<T>>): Promise<GroupDone<T>>;
}

/** The kinds of search hits, in the order of equally good ones. */
export const SEARCH_KINDS = ['project', 'environment', 'flag', 'key'] as const;

/** Where to search. */
export interface SearchQuery {
  /** Hits at most. */
  readonly limit: number;
  /** Ids of the projects to search; absent: all. */
  readonly projectIds?: readonly string[];
}

/** One search result. */
export interface SearchHit {
  readonly kind: (typeof SEARCH_KINDS)[number];
  /** Name of its project, or its own. */
  readonly project: string;
  /** The name, or a flag's key. */
  readonly name: string;
  /** A project key's id. */
  readonly id?: string;
  /** A flag's description. */
  readonly description?: string;
  /** Since when a flag is archived, in epoch milliseconds. */
  readonly archivedAt?: number;
}
