import type { RolloutPlanStep } from '@halyard/protocol';

/** The statuses of a rollout plan. A running or paused one is open; the others are final. */
export const ROLLOUT_STATUSES = ['running', 'paused', 'done', 'stopped'] as const;

/** The status of a rollout plan. */
export type RolloutStatus = (typeof ROLLOUT_STATUSES)[number];

/** A staged rollout of one flag in one environment. Each step raises the percentage of targeting keys it is on for. */
export interface RolloutPlan {
  readonly id: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly flagKey: string;
  /** JSON text; {@link stepsOf} reads it. */
  readonly steps: string;
  readonly note?: string;
  /** The actor's name, as in the audit log. */
  readonly createdBy: string;
  /** The proposal that started it or resumed it last, where its environment requires approvals. */
  readonly proposal?: string;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  /** The percentage that the flag was on for before the first step. */
  readonly fromPct: number;
  /** The person or token that started it, or resumed it last: steps run with what this actor may do then. */
  readonly runsAs: string;
  readonly runsSince: number;
  readonly status: RolloutStatus;
  readonly statusAt: number;
  /** The author of the status. */
  readonly statusBy: string;
  /** Why it was paused or stopped, in a sentence; absent when a person did it with the plan's own commands. */
  readonly reason?: string;
  /** The index of the step that runs next; the number of steps once all have run. */
  readonly nextStep: number;
  /** When that step is due; only while the plan runs. */
  readonly dueAt?: number;
  /** JSON text: a list with the time each past step ran, `null` for a skipped one; {@link ranOf} reads it. */
  readonly ran: string;
  /** The revision of the flag's state as the plan left or found it; absent when it had none. */
  readonly stateRevision?: number;
}

/** The parts of a plan that a transition changes. */
export type RolloutProgress = Pick<
  RolloutPlan,
  | 'runsAs'
  | 'runsSince'
  | 'proposal'
  | 'status'
  | 'statusAt'
  | 'statusBy'
  | 'reason'
  | 'nextStep'
  | 'dueAt'
  | 'ran'
  | 'stateRevision'
>;

/** Why a plan is paused when its flag is changed by anything but the plan. */
export const CHANGED_OUTSIDE = 'The flag was changed outside the plan.';

/** Whether a plan can still run a step. */
export function isOpen({ status }: Pick<RolloutPlan, 'status'>): boolean {
  return status === 'running' || status === 'paused';
}

/** The steps of a plan. Throws a `SyntaxError` when the record is damaged. */
export function stepsOf({ steps }: Pick<RolloutPlan, 'steps'>): readonly RolloutPlanStep[] {
  return JSON.parse(steps);
}

/** When each past step ran, in epoch milliseconds; `null` for a skipped one. As {@link stepsOf} otherwise. */
export function ranOf({ ran }: Pick<RolloutPlan, 'ran'>): readonly (number | null)[] {
  return JSON.parse(ran);
}

/** Which plans of a project to read. */
export interface RolloutFilter {
  readonly projectId: string;
  readonly environmentId?: string;
  readonly flagKey?: string;
  readonly status?: RolloutStatus | 'open';
  /** Ended ones at most, the newest of them. Open ones are all given. */
  readonly ended: number;
}

/** The actions of a plan in the audit log; each entry has the flag's key as its target. */
export type RolloutAction =
  | 'rollout.started'
  | 'rollout.advanced'
  | 'rollout.paused'
  | 'rollout.resumed'
  | 'rollout.stopped';
