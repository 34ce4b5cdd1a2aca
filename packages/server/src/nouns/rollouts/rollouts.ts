import {
  defined,
  dueTime,
  noStepLeft,
  type RolloutPlanStep,
  reachOf,
  rolloutPlanProblem,
} from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import type { Environment, StoredState } from '../../domain/project.ts';
import {
  isOpen,
  type RolloutFilter,
  type RolloutPlan,
  type RolloutProgress,
  ranOf,
  stepsOf,
} from '../../domain/rollout-plan.ts';
import type { StoreTransaction } from '../../domain/store.ts';
import type { ManagementContext } from '../../management/context.ts';
import { changeStates } from '../../management/flags/change-states.ts';
import { applyPatch, requireFlags } from '../../management/flags/flag-states.ts';
import { type EnvironmentPlace, findProject } from '../../management/lookup.ts';
import { checkNote, notedBy } from '../../management/rules.ts';
import { lockPlace, requireChangeOf, type Written, writeRecord } from '../../management/write.ts';
import { AlreadySettled } from '../due-runner.ts';
import { listNamed, type Named, withName } from '../named-records.ts';
import { scheduledKeys } from '../schedules/schedule.ts';
import { readSchedules } from '../schedules/schedule-table.ts';

/** Most ended plans in a list. */
const ENDED_SHOWN = 200;

/** Most open plans of a project. */
const MAX_OPEN = 1000;

/** A new plan: the flag and its steps. */
export interface NewRolloutPlan extends EnvironmentPlace {
  readonly flag: string;
  readonly steps: readonly RolloutPlanStep[];
  readonly note?: string;
  /** Also for a flag with a pending scheduled change there, which will pause the plan. */
  readonly anyway?: boolean;
}

/** A plan with the name of its environment, which is absent once the environment is deleted. */
export type NamedPlan = Named<RolloutPlan>;

/** Which plans to list. */
export interface RolloutQuery extends Pick<RolloutFilter, 'flagKey' | 'status'> {
  readonly project: string;
  readonly environment?: string;
}

/** A plan of a project, by its id. */
export interface PlanPlace {
  readonly project: string;
  readonly id: string;
}

/**
 * Plans of a project: all open ones, the next due one first, then the newest ended ones. `project_not_found`,
 * `environment_not_found`.
 */
export function listPlans(
  context: ManagementContext,
  actor: Actor,
  { flagKey, status, ...place }: RolloutQuery,
): Promise<readonly NamedPlan[]> {
  const filter = { ended: ENDED_SHOWN, ...defined({ flagKey, status }) };
  return listNamed(context, actor, place, ({ rollouts }, found) => rollouts.list({ ...found, ...filter }));
}

/** One plan. `project_not_found`, `not_found`. */
export function getPlan(
  context: ManagementContext,
  actor: Actor,
  { project, id }: PlanPlace,
): Promise<NamedPlan> {
  return context.store.read(async (reader) => {
    const { id: projectId } = await findProject(reader, actor, project);
    const plan = requirePlan(await reader.rollouts.find(id), { projectId, id });
    const environments = await reader.environments(projectId);
    return withName(plan, environments.find((each) => each.id === plan.environmentId)?.name);
  });
}

/**
 * Starts a plan, and runs its first step at once if that has neither a wait nor a time. The actor must be allowed to
 * change the flag now, and confirms it now; the permission is checked again before each step. `invalid_argument`,
 * `already_exists` while another plan of this flag is open there, `already_planned` while a change of it is scheduled there,
 * unless `anyway` is set, `project_not_found`, `environment_not_found`,
 * `flag_not_found`, `flag_archived`, `forbidden`, `confirmation_required`.
 */
export async function startPlan(
  context: ManagementContext,
  actor: Actor,
  input: NewRolloutPlan,
): Promise<Written<NamedPlan>> {
  const { flag: flagKey, steps, note = '' } = input;
  checkNote(note);
  const now = context.now();
  return writePlan(context, notedBy(actor, note), async (transaction) => {
    // Open plans are counted by project.
    await transaction.lockProject((await findProject(transaction, actor, input.project)).id);
    const environment = await lockPlace(transaction, actor, input);
    const { id: environmentId, projectId } = environment;
    await requireFlags(transaction, { projectId, keys: [flagKey] });
    await requireRoom(transaction, environment, flagKey);
    if (input.anyway !== true) await refusePendingSchedules(transaction, environment, flagKey);
    const state = await transaction.state(environmentId, flagKey);
    const fromPct = reachIn(state);
    const problem = rolloutPlanProblem(steps, { now, reachPct: fromPct });
    if (problem !== undefined) throw invalid(problem.message);
    const dueAt = steps[0] === undefined ? now : dueTime(steps[0], now);
    const plan: RolloutPlan = {
      ...{ id: context.newId(), projectId, environmentId, flagKey, steps: JSON.stringify(steps) },
      ...(note === '' ? {} : { note }),
      ...{ createdBy: actor.name, createdAt: now, runsAs: actor.name, runsSince: now, fromPct },
      ...{ status: 'running', statusAt: now, statusBy: actor.name, nextStep: 0, dueAt, ran: '[]' },
      ...defined({ stateRevision: state?.revision }),
    };
    await transaction.rollouts.insert(plan);
    const started = dueAt > now ? plan : await applyStep(transaction, { plan, environment, at: now });
    return withName(started, environment.name);
  });
}

async function requireRoom(
  transaction: StoreTransaction,
  { id, projectId, name }: Environment,
  flagKey: string,
): Promise<void> {
  if ((await transaction.rollouts.openOf(id, flagKey)) !== undefined) {
    throw new ServiceError(
      'already_exists',
      `The flag ${quote(flagKey)} already has a rollout plan in ${name}: stop that one first.`,
    );
  }
  const open = await transaction.rollouts.list({ projectId, status: 'open', ended: 0 });
  if (open.length < MAX_OPEN) return;
  throw invalid(`The project has ${MAX_OPEN} open rollout plans, which is the limit: stop one first.`);
}

/** Refuses a flag that a scheduled change of the environment is about to change: each would undo the other without a word. */
async function refusePendingSchedules(
  transaction: StoreTransaction,
  { id, projectId, name }: Environment,
  flagKey: string,
): Promise<void> {
  const filter = { projectId, environmentId: id, status: 'pending', settled: 0 } as const;
  const pending = await readSchedules(transaction, filter);
  const schedule = pending.find((each) => scheduledKeys(each).includes(flagKey));
  if (schedule === undefined) return;
  throw new ServiceError(
    'already_planned',
    `A change of the flag ${quote(flagKey)} in ${name} is scheduled for ${new Date(schedule.dueAt).toISOString()}, which would ` +
      `pause the plan: cancel the schedule ${schedule.id} first, or send "anyway": true (--anyway).`,
  );
}

/** Pauses a running plan: its wait ends without a step. A paused one stays as it is. As {@link endOrPause} refuses. */
export function pausePlan(
  context: ManagementContext,
  actor: Actor,
  place: PlanPlace,
): Promise<Written<NamedPlan>> {
  return endOrPause(context, actor, { ...place, status: 'paused' });
}

/** Stops an open plan for good; the flag stays as it is. A stopped one stays as it is. As {@link endOrPause} refuses. */
export function stopPlan(
  context: ManagementContext,
  actor: Actor,
  place: PlanPlace,
): Promise<Written<NamedPlan>> {
  return endOrPause(context, actor, { ...place, status: 'stopped' });
}

/** `project_not_found`, `not_found`, `not_revertible` for a plan that has ended, `forbidden`. */
function endOrPause(
  context: ManagementContext,
  actor: Actor,
  { status, ...place }: PlanPlace & { readonly status: 'paused' | 'stopped' },
): Promise<Written<NamedPlan>> {
  // The flag stays as it is, so this needs the permission but no confirmation.
  const confirmed: Actor = { ...actor, permissions: { ...actor.permissions, confirmed: 'all' } };
  return writeRecord(context, actor, async (transaction) => {
    const { plan, environment } = await lockPlan(transaction, confirmed, place);
    if (plan.status === status) return withName(plan, environment?.name);
    requireOpen(plan);
    const note = actor.note === '' ? undefined : actor.note;
    const next = { status, statusAt: context.now(), statusBy: actor.name, ...defined({ reason: note }) };
    const action = status === 'paused' ? 'rollout.paused' : 'rollout.stopped';
    // The entry has the note itself.
    await transaction.rollouts.move(plan, next, { action, details: { reason: undefined } });
    return withName(await reread(transaction, plan), environment?.name);
  });
}

/**
 * Resumes a paused plan: the whole wait before its next step begins again now. Steps that are not above the present
 * rollout are skipped, and from now on steps run with the permissions of this actor. A running plan stays as it is.
 * `project_not_found`, `not_found`, `not_revertible` for a plan that has ended, `invalid_argument` when no step is
 * left, `flag_not_found`, `flag_archived`, `forbidden`, `confirmation_required`.
 */
export function resumePlan(
  context: ManagementContext,
  actor: Actor,
  place: PlanPlace,
): Promise<Written<NamedPlan>> {
  const now = context.now();
  return writePlan(context, actor, async (transaction) => {
    const { plan, environment } = await lockForChange(transaction, actor, place);
    if (plan.status === 'running') return withName(plan, environment.name);
    const state = await transaction.state(plan.environmentId, plan.flagKey);
    const { step, index, ran } = nextStepOf(plan, reachIn(state));
    await transaction.rollouts.move(
      plan,
      {
        ...{ status: 'running', statusAt: now, statusBy: actor.name, runsAs: actor.name, runsSince: now },
        ...{ nextStep: index, ran: JSON.stringify(ran), dueAt: Math.max(now, dueTime(step, now)) },
        ...defined({ stateRevision: state?.revision }),
      },
      { action: 'rollout.resumed', details: { step: index + 1, of: stepsOf(plan).length } },
    );
    return withName(await reread(transaction, plan), environment.name);
  });
}

/** Runs the next step of an open plan now, instead of waiting for it; otherwise as {@link resumePlan}. */
export function advancePlan(
  context: ManagementContext,
  actor: Actor,
  place: PlanPlace,
): Promise<Written<NamedPlan>> {
  const at = context.now();
  return writePlan(context, actor, async (transaction) => {
    const { plan, environment } = await lockForChange(transaction, actor, place);
    const runs = { runsAs: actor.name, runsSince: at };
    return withName(await applyStep(transaction, { plan, environment, at, runs }), environment.name);
  });
}

/** One run of a step, in a transaction that has locked the environment. */
export interface StepRun {
  readonly plan: RolloutPlan;
  readonly environment: Environment;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The actor who takes over the plan with this step. */
  readonly runs?: Pick<RolloutProgress, 'runsAs' | 'runsSince'>;
}

/** Runs the next step of a plan: turns the flag on for its percentage, and returns the plan as it is afterwards. */
export async function applyStep(
  transaction: StoreTransaction,
  { plan, environment, at, runs }: StepRun,
): Promise<RolloutPlan> {
  const { id, environmentId, flagKey } = plan;
  const before = await transaction.state(environmentId, flagKey);
  const from = reachIn(before);
  const { step, index, ran } = nextStepOf(plan, from);
  const { rolloutPct } = step;
  const share = rolloutPct === 100 ? ({ unset: ['rolloutPct'] } as const) : { rolloutPct };
  const state = applyPatch(before?.state, { enabled: true, ...share });
  const { revision, changed } = await changeStates(transaction, environment, [[flagKey, state]], id);
  const stateRevision = changed.length > 0 ? revision : before?.revision;
  const statusBy = runs?.runsAs ?? plan.runsAs;
  const progress: Partial<RolloutProgress> = {
    ...{ ...runs, nextStep: index + 1, ran: JSON.stringify([...ran, at]), ...defined({ stateRevision }) },
    ...afterStep(plan, { index, at, statusBy }),
  };
  const details = {
    step: index + 1,
    of: stepsOf(plan).length,
    from,
    to: rolloutPct,
    startedBy: plan.createdBy,
  };
  if (await transaction.rollouts.move(plan, progress, { action: 'rollout.advanced', details })) {
    return await reread(transaction, plan);
  }
  throw new AlreadySettled();
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
function nextStepOf(plan: RolloutPlan, reachPct: number) {
  const steps = stepsOf(plan);
  const index = steps.findIndex((step, at) => at >= plan.nextStep && step.rolloutPct > reachPct);
  const step = steps[index];
  if (step === undefined) throw invalid(noStepLeft(reachPct));
  const skipped = Array.from({ length: index - plan.nextStep }, () => null);
  return { step, index, ran: [...ranOf(plan), ...skipped] };
}

/** What {@link reachOf} says of a stored state. */
function reachIn(stored: StoredState | undefined): number {
  return reachOf(stored === undefined ? undefined : stateParts(stored.state));
}

/** Locks a plan's environment and returns the plan as it is then. `not_found`, `forbidden`, `confirmation_required`. */
async function lockPlan(
  transaction: StoreTransaction,
  actor: Actor,
  { project, id }: PlanPlace,
): Promise<{ readonly plan: RolloutPlan; readonly environment: Environment | undefined }> {
  const { id: projectId } = await findProject(transaction, actor, project);
  const known = requirePlan(await transaction.rollouts.find(id), { projectId, id });
  const environment = await transaction.lockEnvironment(known.environmentId);
  if (environment !== undefined) requireChangeOf(actor, environment);
  return { plan: await reread(transaction, known), environment };
}

/** As {@link lockPlan}, for a plan that then changes its flag. */
async function lockForChange(transaction: StoreTransaction, actor: Actor, place: PlanPlace) {
  const { plan, environment } = await lockPlan(transaction, actor, place);
  requireOpen(plan);
  if (environment === undefined)
    throw new ServiceError('environment_not_found', 'The environment has been deleted.');
  await requireFlags(transaction, { projectId: plan.projectId, keys: [plan.flagKey] });
  return { plan, environment };
}

function requireOpen(plan: RolloutPlan): void {
  if (isOpen(plan)) return;
  throw new ServiceError('not_revertible', `The rollout plan has ended (${plan.status}): start a new one.`);
}

function requirePlan(
  plan: RolloutPlan | undefined,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): RolloutPlan {
  if (plan?.projectId === projectId) return plan;
  throw new ServiceError(
    'not_found',
    `The project has no rollout plan with the id ${quote(id)}: list the plans to find it.`,
  );
}

async function reread(transaction: StoreTransaction, { projectId, id }: RolloutPlan): Promise<RolloutPlan> {
  return requirePlan(await transaction.rollouts.find(id), { projectId, id });
}

/** Writes a plan, and then wakes the runner for its next step. */
async function writePlan(
  context: ManagementContext,
  actor: Actor,
  work: (transaction: StoreTransaction) => Promise<NamedPlan>,
): Promise<Written<NamedPlan>> {
  const plan = await writeRecord(context, actor, work);
  if (plan.dueAt !== undefined) context.scheduled?.(plan.dueAt);
  return plan;
}
