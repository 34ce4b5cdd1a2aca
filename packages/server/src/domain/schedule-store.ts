import type { Schedule, ScheduleStatus, Settlement } from './schedule.ts';

/** Which schedules of a project to read. */
export interface ScheduleFilter {
  readonly projectId: string;
  readonly environmentId?: string;
  readonly status?: ScheduleStatus;
  /** Settled ones at most, the newest of them. Pending ones are all given. */
  readonly settled: number;
}

/** Flags that were removed: from one environment, or from all of the project. */
export interface RemovedFlags {
  readonly projectId: string;
  readonly environmentId?: string;
  readonly keys: readonly string[];
}

/** Reads of scheduled changes. Part of the store's port. */
export interface ScheduleReader {
  /** Pending ones first, the next due one at their head; then settled ones, the last settled at their head. */
  list(filter: ScheduleFilter): Promise<readonly Schedule[]>;
  find(id: string): Promise<Schedule | undefined>;
  /** Pending ones of all projects, the next due one first; those that come after `after`, where it is given. */
  next(limit: number, after?: Pick<Schedule, 'id' | 'dueAt'>): Promise<readonly Schedule[]>;
}

/** Writes of scheduled changes, as part of one operation. Each leaves its audit row. */
export interface ScheduleTransaction extends ScheduleReader {
  insert(schedule: Schedule): Promise<void>;
  /**
   * Ends a pending schedule; whoever comes second waits for the first to commit and gets `false`. So the change it
   * stands for is made once when it is made in the same transaction.
   */
  settle(schedule: Schedule, settlement: Settlement): Promise<boolean>;
  /** Cancels the pending schedules that change one of these flags, for it is not there any longer. */
  cancelOf(flags: RemovedFlags, settlement: Omit<Settlement, 'status'>): Promise<void>;
}
