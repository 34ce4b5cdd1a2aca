import type { StateWriters } from '../nouns/states/state-writers.ts';
import type { Store } from '../storage/store.ts';

/** The parts of the node that management commands use. */
export interface ManagementContext {
  readonly store: Store;
  /** Commits changes of single states, several at a time. */
  readonly stateWriters: StateWriters;
  /**
   * Resolves once this node has applied the change-log row `seq`, so that the writer reads its own write, or when it has
   * waited for that long enough. (Spec: S14.7)
   */
  waitForApplied(seq: number): Promise<void>;
  /** Throws `internal_error` while this node cannot follow the log: such a write would not be visible here. */
  assertWritable(): void;
  /** Epoch milliseconds. */
  now(): number;
  randomBytes(length: number): Uint8Array;
  /** Returns an id that is unique across processes. */
  newId(): string;
  /** Waits, in milliseconds; default: the real clock. */
  pause?(ms: number): Promise<void>;
  /** Why webhooks can never reach this address, to end a sentence that begins with its name; `undefined` if they can. */
  problemOfAddress?(url: string): string | undefined;
  /** Called when a change has been scheduled, for the runner on this node. Time in epoch milliseconds. */
  scheduled?(dueAt: number): void;
}

/** Where a request comes from. */
export interface Caller {
  /** Absent when the listener does not know it. */
  readonly ip?: string;
  /** The digest of the session whose cookie the browser has, which ends when another session starts there. Not for logs. */
  readonly sessionDigest?: string;
}
