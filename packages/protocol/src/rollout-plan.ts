import { type FlagState, isRolloutPct } from './flag-state.ts';

/** One step of a rollout plan: the percentage it sets, and when. */
export interface RolloutPlanStep {
  /** Above 0, at most 100, with at most three decimals; at 100 the flag is on for everyone. */
  readonly rolloutPct: number;
  /** Minutes after the step before it, or after the start for the first step. */
  readonly waitMinutes?: number;
  /** A time instead of a wait: ISO 8601 with its zone. Only the first step may have neither: it runs at once. */
  readonly at?: string;
}

/** Limits of a rollout plan. */
export const ROLLOUT_PLAN = {
  minSteps: 2,
  maxSteps: 20,
  minWaitMinutes: 1,
  maxWaitMinutes: 90 * 1440,
} as const;

/** The plans that the dashboard and the CLI offer by name. */
export const ROLLOUT_PRESETS = {
  careful: evenly(1440, [1, 5, 10, 25, 50, 100]),
  usual: evenly(1440, [5, 25, 100]),
  quick: evenly(60, [10, 50, 100]),
} as const satisfies Record<string, readonly RolloutPlanStep[]>;

/** The name of a preset plan. */
export type RolloutPreset = keyof typeof ROLLOUT_PRESETS;

function evenly(waitMinutes: number, shares: readonly number[]): readonly RolloutPlanStep[] {
  return shares.map((rolloutPct, index) => (index === 0 ? { rolloutPct } : { rolloutPct, waitMinutes }));
}

/** The percentage of targeting keys that a flag is on for: 0 when it is off or has no state. */
export function reachOf(state: Pick<FlagState, 'enabled' | 'rolloutPct'> | undefined): number {
  return state?.enabled === true ? (state.rolloutPct ?? 100) : 0;
}

/** A step with how far its plan has come, as the API returns it. */
export interface PlanProgress {
  readonly rolloutPct: number;
  readonly status: 'done' | 'skipped' | 'next' | 'waiting';
  readonly ranAt?: string;
  readonly expectedAt?: string;
}

/** The step that an open plan runs next: the first that raises the rollout. */
export function nextPlanStep<Step extends PlanProgress>(
  steps: readonly Step[],
  reachPct: number,
): Step | undefined {
  return steps.find((step) => isAhead(step) && step.rolloutPct > reachPct);
}

/** The steps of an open plan. Those that the rollout has passed outside the plan are skipped: the plan itself skips them later. */
export function planSteps<Step extends PlanProgress>(
  steps: readonly Step[],
  reachPct: number,
): readonly (Step | PlanProgress)[] {
  const next = nextPlanStep(steps, reachPct);
  if (next === undefined) return steps;
  return steps.map((step) => {
    if (isAhead(step) && step.rolloutPct < next.rolloutPct)
      return { rolloutPct: step.rolloutPct, status: 'skipped' };
    return step === next ? { ...step, status: 'next' } : step;
  });
}

function isAhead({ status }: PlanProgress): boolean {
  return status === 'next' || status === 'waiting';
}

/** Why a plan is refused. */
export interface RolloutPlanProblem {
  /** The index of the step it is about; absent for the plan as a whole. */
  readonly step?: number;
  readonly message: string;
}

/** What a plan is checked against. */
export interface RolloutPlanSituation {
  /** Epoch milliseconds. */
  readonly now: number;
  /** As {@link reachOf} gives it, of the flag at `now`. */
  readonly reachPct: number;
}

/**
 * Why a plan is refused; `undefined` when it can start. The server and the dashboard both ask this function, so both
 * refuse the same plans with the same words.
 */
export function rolloutPlanProblem(
  steps: readonly RolloutPlanStep[],
  { now, reachPct }: RolloutPlanSituation,
): RolloutPlanProblem | undefined {
  const { minSteps, maxSteps } = ROLLOUT_PLAN;
  if (reachPct >= 100)
    return { message: 'The flag is already on for everyone: turn it off, or set a lower rollout first.' };
  if (steps.length < minSteps || steps.length > maxSteps) {
    const count = steps.length === 1 ? '1 step' : `${steps.length} steps`;
    const instead = steps.length < minSteps ? ' For one change, set the rollout or schedule it.' : '';
    return { message: `The plan has ${count}: a plan has ${minSteps} to ${maxSteps}.${instead}` };
  }
  let plannedAt = now;
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1];
    const message =
      shareProblem(step, { index, floor: before?.rolloutPct ?? reachPct }) ??
      timeProblem(step, { index, plannedAt });
    if (message !== undefined) return { step: index, message };
    plannedAt = dueTime(step, plannedAt);
  }
  return undefined;
}

/** Why a plan cannot continue when none of its steps would raise the rollout. */
export function noStepLeft(reachPct: number): string {
  return `The flag is on for ${reachPct} %, and no step is left above that: stop the plan.`;
}

/** When a step is due, in epoch milliseconds, if the step before it runs at `after`. */
export function dueTime({ at, waitMinutes = 0 }: RolloutPlanStep, after: number): number {
  return at === undefined ? after + waitMinutes * 60_000 : Date.parse(at);
}

function shareProblem(
  { rolloutPct }: RolloutPlanStep,
  { index, floor }: { readonly index: number; readonly floor: number },
): string | undefined {
  const name = `Step ${index + 1}`;
  if (!isRolloutPct(rolloutPct) || rolloutPct === 0) {
    return `${name} must be a percentage above 0, at most 100, with at most three decimals.`;
  }
  if (rolloutPct > floor) return undefined;
  const than = index === 0 ? `the ${floor} % that the flag is on for now` : `the ${floor} % of step ${index}`;
  return `${name} (${rolloutPct} %) must be higher than ${than}.`;
}

function timeProblem(
  { at, waitMinutes }: RolloutPlanStep,
  { index, plannedAt }: { readonly index: number; readonly plannedAt: number },
): string | undefined {
  const name = `step ${index + 1}`;
  if (at !== undefined && waitMinutes !== undefined)
    return `Step ${index + 1} has a wait and a time: give one of them.`;
  if (at === undefined && waitMinutes === undefined)
    return index === 0 ? undefined : `Step ${index + 1} needs a wait or a time.`;
  const { minWaitMinutes, maxWaitMinutes } = ROLLOUT_PLAN;
  const dueAt = at === undefined ? undefined : Date.parse(at);
  if (Number.isNaN(dueAt))
    return `The time of ${name} must be a date with a time and its zone, such as 2027-01-31T09:00:00Z.`;
  const minutes = dueAt === undefined ? (waitMinutes ?? 0) : (dueAt - plannedAt) / 60_000;
  const range = `${minWaitMinutes} minute to ${maxWaitMinutes / 1440} days`;
  if (dueAt === undefined) {
    const isFine = Number.isInteger(minutes) && minutes >= minWaitMinutes && minutes <= maxWaitMinutes;
    return isFine ? undefined : `The wait before ${name} must be ${range}, in whole minutes.`;
  }
  if (minutes >= minWaitMinutes && minutes <= maxWaitMinutes) return undefined;
  return `The time of ${name} must be ${range} after ${index === 0 ? 'now' : `step ${index}`}.`;
}
