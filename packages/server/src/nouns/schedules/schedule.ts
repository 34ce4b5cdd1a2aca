/** The statuses of a scheduled change. Only a pending one can change. */
export const SCHEDULE_STATUSES = ['pending', 'done', 'failed', 'cancelled'] as const;

/** The status of a scheduled change. */
export type ScheduleStatus = (typeof SCHEDULE_STATUSES)[number];

/** A change of flag states that runs at a later time, on the first node that gets to it. */
export interface Schedule {
  readonly id: string;
  readonly projectId: string;
  readonly environmentId: string;
  /** JSON text: what to change, as the management interface takes it. */
  readonly changes: string;
  readonly note?: string;
  /** The actor's name, as in the audit log. The change runs with what this actor may do then. */
  readonly createdBy: string;
  /** The proposal that created it, where its environment requires approvals. */
  readonly proposal?: string;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly dueAt: number;
  readonly status: ScheduleStatus;
  /** When it was done, failed or cancelled. */
  readonly settledAt?: number;
  /** Why it failed, in a sentence. */
  readonly outcome?: string;
  /** Of the change it made, once it is done. */
  readonly seq?: number;
}

/** How a pending schedule ends. */
export interface Settlement {
  readonly status: Exclude<ScheduleStatus, 'pending'>;
  readonly at: number;
  readonly outcome?: string;
}

/** The keys of the flags that a schedule changes; empty if its text is damaged. */
export function scheduledKeys({ changes }: Pick<Schedule, 'changes'>): readonly string[] {
  try {
    const steps: unknown = JSON.parse(changes);
    if (!Array.isArray(steps)) return [];
    return steps.flatMap((step: unknown) => {
      const key = typeof step === 'object' && step !== null && 'key' in step ? step.key : undefined;
      return typeof key === 'string' ? [key] : [];
    });
  } catch {
    // Damaged: it fails when it is due.
    return [];
  }
}

/** Which schedules of a project to read. */
export interface ScheduleFilter {
  readonly projectId: string;
  readonly environmentId?: string;
  readonly status?: ScheduleStatus;
  /** Settled ones at most, the newest of them. Pending ones are all given. */
  readonly settled: number;
}
