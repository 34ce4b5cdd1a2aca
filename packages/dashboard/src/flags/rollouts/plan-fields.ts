import {
  dueTime,
  ROLLOUT_PRESETS,
  type RolloutPlanProblem,
  type RolloutPlanStep,
  type RolloutPreset,
  rolloutPlanProblem,
} from '@halyard/protocol';
import { shareOf } from '../share.ts';

/** When a step runs: at once, after a wait in this unit, or at a time. */
export type When = 'now' | 'minutes' | 'hours' | 'days' | 'at';

/** A step as it is being typed. */
export interface DraftStep {
  readonly id: number;
  readonly share: string;
  readonly when: When;
  /** The wait in its unit. */
  readonly wait: string;
  /** Local, as a `datetime-local` field has it. */
  readonly time: string;
}

/** The units of waits, in minutes; the longest first. */
const UNITS = [
  ['days', 1440],
  ['hours', 60],
  ['minutes', 1],
] as const;

/**
 * A preset plan as a draft, without the steps that the flag has reached already. If only one is left, a step halfway comes
 * before it, because a plan has at least two.
 */
export function draftOf(preset: RolloutPreset, reachPct: number): readonly DraftStep[] {
  const left = ROLLOUT_PRESETS[preset].filter(({ rolloutPct }) => rolloutPct > reachPct);
  const rolloutPct = halfway(reachPct);
  return (left.length === 1 && rolloutPct < 100 ? [{ rolloutPct }, ...left] : left).map(draftStep);
}

/** A percentage in the middle between this one and everyone, as round as possible. */
function halfway(from: number): number {
  const half = Math.ceil((from + 100) / 2);
  return half < 100 ? half : Math.round((from + 100) * 500) / 1000;
}

function draftStep({ rolloutPct, waitMinutes = 0 }: RolloutPlanStep, index: number): DraftStep {
  const [unit, minutes] = UNITS.find(([, size]) => waitMinutes % size === 0) ?? UNITS[2];
  const isFirst = index === 0;
  return {
    id: index,
    share: String(rolloutPct),
    time: '',
    when: isFirst ? 'now' : unit,
    wait: isFirst ? '' : String(waitMinutes / minutes),
  };
}

/** The draft with a step after the last one, halfway to everyone. */
export function withStep(steps: readonly DraftStep[]): readonly DraftStep[] {
  const last = steps.at(-1);
  const id = Math.max(-1, ...steps.map((step) => step.id)) + 1;
  const share = shareOf(last?.share ?? '');
  const half = share < 100 ? String(halfway(share)) : '';
  return [...steps, { id, share: half, when: 'hours', wait: '24', time: '' }];
}

/** The steps of a draft. What is not a number or a time becomes one that no plan may have. */
export function stepsOf(draft: readonly DraftStep[]): readonly RolloutPlanStep[] {
  return draft.map(({ share, when, wait, time }) => {
    const rolloutPct = shareOf(share);
    if (when === 'now') return { rolloutPct };
    if (when === 'at') return { rolloutPct, at: isoOf(time) };
    const minutes = UNITS.find(([unit]) => unit === when)?.[1] ?? 1;
    return { rolloutPct, waitMinutes: wait.trim() === '' ? 0 : Number(wait) * minutes };
  });
}

function isoOf(time: string): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}

/** The reason why the server would refuse the plan, in its own words. */
export function problemOf(
  draft: readonly DraftStep[],
  situation: { readonly now: number; readonly reachPct: number },
): RolloutPlanProblem | undefined {
  return rolloutPlanProblem(stepsOf(draft), situation);
}

/** When the last step runs, in epoch milliseconds; the draft must have no problem. */
export function endOf(draft: readonly DraftStep[], now: number): number {
  return timedSteps(stepsOf(draft), now).at(-1)?.dueAt ?? now;
}

/** A step with its time. */
export interface TimedStep {
  readonly rolloutPct: number;
  /** Epoch milliseconds; absent if it runs at once. */
  readonly dueAt?: number;
}

/** When the steps run if the plan starts or resumes at `now` and nothing interrupts it. */
export function timedSteps(steps: readonly RolloutPlanStep[], now: number): readonly TimedStep[] {
  let at = now;
  return steps.map((step) => {
    at = Math.max(at, dueTime(step, at));
    return { rolloutPct: step.rolloutPct, ...(at > now ? { dueAt: at } : {}) };
  });
}
