import type { Store } from '../domain/store.ts';

/** The parts of the node that management commands use. */
export interface ManagementContext {
  readonly store: Store;
  /** Resolves once this node has applied the change-log row `seq`, so that the writer reads its own write. */
  waitForApplied(seq: number): Promise<void>;
  /** Throws `internal_error` while this node cannot follow the log: such a write would not be visible here. */
  assertWritable(): void;
  /** Epoch milliseconds. */
  now(): number;
  randomBytes(length: number): Uint8Array;
  /** A text that never comes twice, in any process. */
  newId(): string;
  /** Waits, in milliseconds; by the real clock where it is absent. */
  pause?(ms: number): Promise<void>;
  /** Called when a change has been scheduled, for the runner on this node. Time in epoch milliseconds. */
  scheduled?(dueAt: number): void;
}
