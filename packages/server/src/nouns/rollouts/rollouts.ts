import { defined, dueTime, type RolloutPlanStep, rolloutPlanProblem } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { checkNote, notedBy } from '../../management/rules.ts';
import { requireChangeOf, requirePermission, type Written, writeRecord } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { lockEnvironment, readEnvironments } from '../environments/environment-table.ts';
import { lockPlace } from '../locks.ts';
import {
  type EnvironmentPlace,
  environmentDeleted,
  findProject,
  type RecordPlace,
  recordNotFound,
} from '../lookup.ts';
import { type ListedPlace, listNamed, type Named, withName } from '../named-records.ts';
import { lockProject } from '../projects/project-table.ts';
import { scheduledKeys } from '../schedules/schedule.ts';
import { readSchedules } from '../schedules/schedule-table.ts';
import { readStoredState } from '../states/state-table.ts';
import { requireFlags } from '../states/states.ts';
import { isOpen, type RolloutFilter, type RolloutPlan, stepsOf } from './rollout-plan.ts';
import { insertPlan, readPlan, readPlans } from './rollout-table.ts';
import { movePlan, nextStepOf, reachIn, step } from './step.ts';

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

/**
 * Plans of a project: all open ones, the next due one first, then the newest ended ones. `project_not_found`,
 * `environment_not_found`.
 */
export function listPlans(
  context: ManagementContext,
  actor: Actor,
  { flagKey, status, ...place }: ListedPlace & Pick<RolloutFilter, 'flagKey' | 'status'>,
): Promise<readonly NamedPlan[]> {
  const filter = { ended: ENDED_SHOWN, ...defined({ flagKey, status }) };
  return listNamed(context, actor, place, (db, found) => readPlans(db, { ...found, ...filter }));
}

/** One plan. `project_not_found`, `not_found`. */
export function getPlan(
  context: ManagementContext,
  actor: Actor,
  { project, id }: RecordPlace,
): Promise<NamedPlan> {
  return context.store.read(async (db) => {
    const { id: projectId } = await findProject(db, actor, project);
    const plan = await findPlan(db, projectId, id);
    const environments = await readEnvironments(db, projectId);
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

  const author = notedBy(actor, note);
  return writePlan(context, author, async (tx) => {
    // Open plans are counted by project.
    await lockProject(tx, (await findProject(tx, actor, input.project)).id);
    const environment = await lockPlace(tx, author, input);
    const { id: environmentId, projectId } = environment;

    await requireFlags(tx, { projectId, keys: [flagKey] });
    await requireRoom(tx, environment, flagKey);
    if (input.anyway !== true) await refusePendingSchedules(tx, environment, flagKey);
    const state = await readStoredState(tx, environmentId, flagKey);
    const fromPct = reachIn(state);
    const problem = rolloutPlanProblem(steps, { now, reachPct: fromPct });
    if (problem !== undefined) throw invalid(problem.message);

    const dueAt = steps[0] === undefined ? now : dueTime(steps[0], now);
    const plan: RolloutPlan = {
      id: context.newId(),
      projectId,
      environmentId,
      flagKey,
      steps: JSON.stringify(steps),
      ...(note === '' ? {} : { note }),
      createdBy: actor.name,
      createdAt: now,
      runsAs: actor.name,
      runsSince: now,
      ...defined({ proposal: actor.approval?.proposal }),
      fromPct,
      status: 'running',
      statusAt: now,
      statusBy: actor.name,
      nextStep: 0,
      dueAt,
      ran: '[]',
      ...defined({ stateRevision: state?.revision }),
    };
    await insertPlan(tx, plan);
    const started = dueAt > now ? plan : await step(tx, { plan, environment, state, at: now });
    return withName(started, environment.name);
  });
}

async function requireRoom(tx: Tx, { id, projectId, name }: Environment, flagKey: string): Promise<void> {
  const open = await readPlans(tx, { projectId, status: 'open', ended: 0 });
  if (open.some((plan) => plan.environmentId === id && plan.flagKey === flagKey)) {
    throw new ServiceError(
      'already_exists',
      `The flag ${quote(flagKey)} already has a rollout plan in ${name}: stop that one first.`,
    );
  }
  if (open.length < MAX_OPEN) return;
  throw invalid(`The project has ${MAX_OPEN} open rollout plans, which is the limit: stop one first.`);
}

/** Refuses a flag that a scheduled change of the environment is about to change: each would undo the other without a word. */
async function refusePendingSchedules(
  tx: Tx,
  { id, projectId, name }: Environment,
  flagKey: string,
): Promise<void> {
  const filter = { projectId, environmentId: id, status: 'pending', settled: 0 } as const;
  const pending = await readSchedules(tx, filter);
  const schedule = pending.find((each) => scheduledKeys(each).includes(flagKey));
  if (schedule === undefined) return;
  throw new ServiceError(
    'already_planned',
    `A change of the flag ${quote(flagKey)} in ${name} is scheduled for ${new Date(schedule.dueAt).toISOString()}, which would ` +
      `pause the plan: cancel the schedule ${schedule.id} first, or send "anyway": true (--anyway).`,
  );
}

/** What a person does to a plan that is open. `project_not_found`, `not_found`, `not_revertible` for one that has ended, `forbidden`. */
type PlanCommand = (
  context: ManagementContext,
  actor: Actor,
  place: RecordPlace,
) => Promise<Written<NamedPlan>>;

/** Pauses a running plan: its wait ends without a step. A paused one stays as it is. */
export const pausePlan: PlanCommand = (context, actor, place) =>
  endOrPause(context, actor, { ...place, status: 'paused' });

/** Stops an open plan for good; the flag stays as it is. A stopped one stays as it is. */
export const stopPlan: PlanCommand = (context, actor, place) =>
  endOrPause(context, actor, { ...place, status: 'stopped' });

function endOrPause(
  context: ManagementContext,
  actor: Actor,
  { status, ...place }: RecordPlace & { readonly status: 'paused' | 'stopped' },
): Promise<Written<NamedPlan>> {
  return writeRecord(context, actor, async (tx) => {
    // The flag stays as it is, so this needs the permission alone.
    const { plan, environment } = await lockPlan(tx, actor, place, requirePermission);
    if (plan.status === status) return withName(plan, environment?.name);
    requireOpen(plan);

    const note = actor.note === '' ? undefined : actor.note;
    const next = { status, statusAt: context.now(), statusBy: actor.name, ...defined({ reason: note }) };
    const action = status === 'paused' ? 'rollout.paused' : 'rollout.stopped';
    // The entry has the note itself.
    const moved = await movePlan(tx, plan, next, { action, details: { reason: undefined } });
    return withName(moved, environment?.name);
  });
}

/**
 * Resumes a paused plan: the whole wait before its next step begins again now. Steps that are not above the present
 * rollout are skipped, and from now on steps run with the permissions of this actor. A running plan stays as it is. Also
 * `invalid_argument` when no step is left, `flag_not_found`, `flag_archived`, `confirmation_required`.
 */
export const resumePlan: PlanCommand = (context, actor, place) => {
  const now = context.now();
  return writePlan(context, actor, async (tx) => {
    const { plan, environment } = await lockForChange(tx, actor, place);
    if (plan.status === 'running') return withName(plan, environment.name);

    const state = await readStoredState(tx, plan.environmentId, plan.flagKey);
    const next = nextStepOf(plan, reachIn(state));
    const progress = {
      status: 'running',
      statusAt: now,
      statusBy: actor.name,
      ...runsBy(actor, now),
      nextStep: next.index,
      ran: JSON.stringify(next.ran),
      dueAt: Math.max(now, dueTime(next.step, now)),
      ...defined({ stateRevision: state?.revision }),
    } as const;
    const details = { step: next.index + 1, of: stepsOf(plan).length };
    const resumed = await movePlan(tx, plan, progress, { action: 'rollout.resumed', details });
    return withName(resumed, environment.name);
  });
};

/** Runs the next step of an open plan now, instead of waiting for it; otherwise as {@link resumePlan}. */
export const advancePlan: PlanCommand = (context, actor, place) => {
  const at = context.now();
  return writePlan(context, actor, async (tx) => {
    const { plan, environment } = await lockForChange(tx, actor, place);
    const state = await readStoredState(tx, plan.environmentId, plan.flagKey);
    const runs = runsBy(actor, at);
    return withName(await step(tx, { plan, environment, state, at, runs }), environment.name);
  });
};

/** With whose rights the steps run from now on, and by whose approval. */
function runsBy({ name, approval }: Actor, at: number) {
  return { runsAs: name, runsSince: at, ...defined({ proposal: approval?.proposal }) };
}

/** Locks a plan's environment and returns the plan as it is then. `not_found`, `forbidden`, `confirmation_required`. */
async function lockPlan(
  tx: Tx,
  actor: Actor,
  { project, id }: RecordPlace,
  require = requireChangeOf,
): Promise<{ readonly plan: RolloutPlan; readonly environment: Environment | undefined }> {
  const { id: projectId } = await findProject(tx, actor, project);
  const known = await findPlan(tx, projectId, id);
  const environment = await lockEnvironment(tx, known.environmentId);
  if (environment !== undefined) require(actor, environment);
  return { plan: await findPlan(tx, projectId, id), environment };
}

/** As {@link lockPlan}, for a plan that then changes its flag. */
async function lockForChange(tx: Tx, actor: Actor, place: RecordPlace) {
  const { plan, environment } = await lockPlan(tx, actor, place);
  requireOpen(plan);
  if (environment === undefined) throw environmentDeleted();
  await requireFlags(tx, { projectId: plan.projectId, keys: [plan.flagKey] });
  return { plan, environment };
}

function requireOpen(plan: RolloutPlan): void {
  if (isOpen(plan)) return;
  throw new ServiceError('not_revertible', `The rollout plan has ended (${plan.status}): start a new one.`);
}

async function findPlan(db: Queryable, projectId: string, id: string): Promise<RolloutPlan> {
  const plan = await readPlan(db, id);
  if (plan?.projectId === projectId) return plan;
  throw recordNotFound(
    `The project has no rollout plan with the id ${quote(id)}: list the plans to find it.`,
  );
}

/** Writes a plan, and then wakes the runner for its next step. */
async function writePlan(
  context: ManagementContext,
  actor: Actor,
  work: (tx: Tx) => Promise<NamedPlan>,
): Promise<Written<NamedPlan>> {
  const plan = await writeRecord(context, actor, work);
  if (plan.dueAt !== undefined) context.scheduled?.(plan.dueAt);
  return plan;
}
