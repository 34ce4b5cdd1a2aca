import { dueTime, noStepLeft, reachOf } from '@halyard/protocol';
import { invalid } from '../../domain/errors.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import type { Environment, StoredState } from '../../domain/project.ts';
import type { Tx } from '../../storage/tx.ts';
import { AlreadySettled } from '../due-runner.ts';
import { changeStates } from '../states/change-states.ts';
import { applyPatch } from '../states/state-patch.ts';
import {
  type RolloutAction,
  type RolloutPlan,
  type RolloutProgress,
  ranOf,
  stepsOf,
} from './rollout-plan.ts';
import { storePlan } from './rollout-table.ts';

/** One run of a step, in a transaction that has locked the environment. */
export interface StepRun {
  readonly plan: RolloutPlan;
  readonly environment: Environment;
  /** The state of the flag there. */
  readonly state: StoredState | undefined;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The actor who takes over the plan with this step. */
  readonly runs?: Pick<RolloutProgress, 'runsAs' | 'runsSince' | 'proposal'>;
}

/** Takes the next step of a plan: turns the flag on for its percentage, and returns the plan as it is afterwards. */
export async function step(tx: Tx, { plan, environment, state, at, runs }: StepRun): Promise<RolloutPlan> {
  const { id, flagKey } = plan;
  const from = reachIn(state);
  const next = nextStepOf(plan, from);
  const { rolloutPct: to } = next.step;

  const share = to === 100 ? ({ unset: ['rolloutPct'] } as const) : { rolloutPct: to };
  const text = applyPatch(state?.state, { enabled: true, ...share });
  const { revision, changed } = await changeStates(tx, environment, [[flagKey, text]], id);
  const stateRevision = changed.length > 0 ? revision : state?.revision;

  const progress = {
    ...runs,
    nextStep: next.index + 1,
    ran: JSON.stringify([...next.ran, at]),
    ...(stateRevision === undefined ? {} : { stateRevision }),
    ...afterStep(plan, { index: next.index, at, statusBy: runs?.runsAs ?? plan.runsAs }),
  };
  const details = {
    step: next.index + 1,
    of: stepsOf(plan).length,
    from,
    to,
    startedBy: plan.createdBy,
  };
  return movePlan(tx, plan, progress, { action: 'rollout.advanced', details });
}

/** The status of a plan after the step at `index` has run, and when the one after it is due. */
function afterStep(
  plan: RolloutPlan,
  { index, at, statusBy }: { readonly index: number; readonly at: number; readonly statusBy: string },
): Partial<RolloutProgress> {
  const next = stepsOf(plan)[index + 1];
  if (next === undefined) return { status: 'done', statusAt: at, statusBy };

  const dueAt = dueTime(next, at);
  const running = plan.status === 'running' ? {} : { status: 'running' as const, statusAt: at, statusBy };
  if (dueAt > at) return { ...running, dueAt };

  // Two steps at once would be no staged rollout.
  const reason = `The time of step ${index + 2} passed before step ${index + 1} ran.`;
  return { status: 'paused', statusAt: at, statusBy: 'system', reason };
}

/** The next step that raises the rollout, with its index and the times of the steps before it. */
export function nextStepOf(plan: RolloutPlan, reachPct: number) {
  const steps = stepsOf(plan);
  const index = steps.findIndex((each, at) => at >= plan.nextStep && each.rolloutPct > reachPct);
  const next = steps[index];
  if (next === undefined) throw invalid(noStepLeft(reachPct));
  const skipped = Array.from({ length: index - plan.nextStep }, () => null);
  return { step: next, index, ran: [...ranOf(plan), ...skipped] };
}

/** What {@link reachOf} says of a stored state. */
export function reachIn(stored: StoredState | undefined): number {
  return reachOf(stored === undefined ? undefined : stateParts(stored.state));
}

/** Moves a plan to `next`, and returns it as it is then. {@link AlreadySettled} when another writer was first. */
export async function movePlan(
  tx: Tx,
  plan: RolloutPlan,
  next: Partial<RolloutProgress>,
  transition: { readonly action: RolloutAction; readonly details?: object },
): Promise<RolloutPlan> {
  const moved = await storePlan(tx, plan, next, transition);
  if (moved === undefined) throw new AlreadySettled();
  return moved;
}
