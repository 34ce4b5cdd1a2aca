/** A flag of a project; its state lives per environment. */
export interface Flag {
  readonly projectId: string;
  /** Unique in its project, immutable: renaming would re-roll every rollout. */
  readonly key: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Who looks after it: free text, empty where nobody is named. */
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Since when it is archived: it has no states, nobody is served it, and it can be restored or deleted. */
  readonly archivedAt?: number;
}

/**
 * A flag state as compact JSON text, members in the order `enabled`, `value`, `rolloutPct`. The value's text is kept
 * as its writer sent it (less white space), so key order and number notation survive.
 */
export type StateText = string;

/** The state of one flag in one environment, as stored. */
export interface StoredState {
  readonly flagKey: string;
  readonly state: StateText;
  /** The environment's revision in which this state was written. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
  /** Who wrote it, as the audit log names them; empty where that was not written down. */
  readonly updatedBy: string;
}

/** One step of a change: the new state of a flag, or `null` where it ceases to exist in the environment. */
export type StateOperation = readonly [flagKey: string, state: StateText | null];
