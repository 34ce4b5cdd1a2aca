import { defined } from '@halyard/protocol';
import { approvalBy } from '../../domain/approval.ts';
import { type Actor, SYSTEM } from '../../domain/audit.ts';
import { quote, ServiceError } from '../../domain/errors.ts';
import type { ManagementContext } from '../../management/context.ts';
import { prefixNote } from '../../management/rules.ts';
import { mayChange, write } from '../../management/write.ts';
import type { Tx } from '../../storage/tx.ts';
import {
  AlreadySettled,
  type DueRun,
  DueRunner,
  type DueRunnerParts,
  dueAuthor,
  type FailedAttempts,
  runDue,
} from '../due-runner.ts';
import { lockEnvironment } from '../environments/environment-table.ts';
import { environmentDeleted } from '../lookup.ts';
import { currentPermissions } from '../people/grants.ts';
import { readStoredState } from '../states/state-table.ts';
import { requireFlags } from '../states/states.ts';
import { CHANGED_OUTSIDE, type RolloutPlan, type RolloutStatus } from './rollout-plan.ts';
import { readNextPlans, readPlan, storePlan } from './rollout-table.ts';
import { step } from './step.ts';

/** Plans per read. */
const BATCH = 20;

/** Runs the steps of rollout plans when they are due, from its start on. */
export function rolloutRunner(parts: DueRunnerParts): DueRunner {
  return new DueRunner('rollout', runDueRollouts, parts);
}

/**
 * Runs the next step of all plans in which one is due, as {@link runDue} says. A plan that is refused its step is paused with
 * the reason.
 */
export function runDueRollouts(
  context: ManagementContext,
  attempts: FailedAttempts = new Map(),
): Promise<DueRun<RolloutStatus>> {
  return runDue<RolloutPlan, RolloutStatus>(context, attempts, {
    next: (db, last) => readNextPlans(db, BATCH, last),
    run: async (plan) => {
      const at = context.now();
      const moved = await write(context, authorOf(plan), (tx) => runDueStep(tx, plan, at));
      if (moved.dueAt !== undefined) context.scheduled?.(moved.dueAt);
      return moved.status;
    },
    fail: async (plan, reason) => {
      const paused = { status: 'paused', statusAt: context.now(), statusBy: 'system', reason } as const;
      const moved = await write(context, SYSTEM, async (tx) => {
        // All who move a plan hold this lock.
        await lockEnvironment(tx, plan.environmentId);
        return storePlan(tx, plan, paused, { action: 'rollout.paused' });
      });
      return moved?.status;
    },
  });
}

/** Its note stands for a reason, also where one is required only since the plan was started. */
function authorOf({ runsAs, note }: RolloutPlan): Actor {
  return dueAuthor(runsAs, prefixNote('Rollout plan', note));
}

/** Runs the step of a plan that is due, as its author may at that moment. */
async function runDueStep(tx: Tx, plan: RolloutPlan, at: number): Promise<RolloutPlan> {
  const { id, projectId, environmentId, flagKey, runsAs, runsSince } = plan;

  const environment = await lockEnvironment(tx, environmentId);
  const current = await readPlan(tx, id);
  if (current?.status !== 'running' || current.nextStep !== plan.nextStep || current.dueAt !== plan.dueAt) {
    throw new AlreadySettled();
  }
  if (environment === undefined) throw environmentDeleted();

  const approval = approvalBy(current.proposal);
  const requireRights = async () => {
    const permissions = await currentPermissions(tx, runsAs, { now: at, since: runsSince });
    const author = permissions && { ...authorOf(plan), permissions, ...defined({ approval }) };
    if (author !== undefined && mayChange(author, environment)) return;
    if (environment.approvals > 0 && approval === undefined) {
      throw new ServiceError(
        'approval_required',
        `${environment.name} requires approvals now, and this plan has none.`,
      );
    }
    const who = `${quote(runsAs)}, who started or resumed the plan,`;
    throw new ServiceError('forbidden', `${who} may no longer change ${environment.name}.`);
  };
  await requireRights();
  await requireFlags(tx, { projectId, keys: [flagKey] });
  const state = await readStoredState(tx, environmentId, flagKey);
  // Writers pause the plan themselves, but a node of an older version does not know about plans.
  if (state?.revision !== current.stateRevision) throw new ServiceError('revision_conflict', CHANGED_OUTSIDE);

  const moved = await step(tx, { plan: current, environment, state, at });

  // Under the lock of people, as a commit checks the author of a request.
  await tx.lockPeople();
  await requireRights();
  return moved;
}
