import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { checkNote, notedBy } from '../../management/rules.ts';
import { requirePermission, type Written, writeRecord } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { lockPlace } from '../locks.ts';
import { type EnvironmentPlace, findProject, type RecordPlace, recordNotFound } from '../lookup.ts';
import { type ListedPlace, listNamed, type Named, withName } from '../named-records.ts';
import { lockProject } from '../projects/project-table.ts';
import { readOpenPlans } from '../rollouts/rollout-table.ts';
import { requireFlags } from '../states/states.ts';
import type { Schedule, ScheduleFilter } from './schedule.ts';
import { insertSchedule, readSchedule, readSchedules, settleSchedule } from './schedule-table.ts';
import { type ScheduledStep, writeSteps } from './steps.ts';

/** Most settled schedules in a list. */
const SETTLED_SHOWN = 200;

/** Most pending schedules of a project. */
const MAX_PENDING = 1000;

/** A new schedule: its changes and its time. */
export interface NewSchedule extends EnvironmentPlace {
  readonly steps: readonly ScheduledStep[];
  /** Epoch milliseconds. */
  readonly dueAt: number;
  readonly note?: string;
  /** Also for a flag with an open rollout plan there, which the change will pause. */
  readonly anyway?: boolean;
}

/** A schedule with the name of its environment, which is absent once the environment is deleted. */
export type NamedSchedule = Named<Schedule>;

/**
 * Scheduled changes of a project: all pending ones, the next due one first, then the newest settled ones.
 * `project_not_found`, `environment_not_found`.
 */
export function listSchedules(
  context: ManagementContext,
  actor: Actor,
  { status, ...place }: ListedPlace & Pick<ScheduleFilter, 'status'>,
): Promise<readonly NamedSchedule[]> {
  const filter = { settled: SETTLED_SHOWN, ...defined({ status }) };
  return listNamed(context, actor, place, (db, found) => readSchedules(db, { ...found, ...filter }));
}

/**
 * Schedules a change. The actor must be allowed to make the change now, and confirms it now; the permission is checked
 * again when the schedule is due. `invalid_argument`, `project_not_found`, `environment_not_found`,
 * `flag_not_found`, `flag_archived`, `forbidden`, `confirmation_required`; `already_planned` for a flag with an open rollout
 * plan there, unless `anyway` is set.
 */
export async function createSchedule(
  context: ManagementContext,
  actor: Actor,
  input: NewSchedule,
): Promise<Written<NamedSchedule>> {
  const { steps, dueAt, note = '' } = input;
  const createdAt = context.now();
  if (dueAt <= createdAt) {
    throw invalid('"dueAt" is not in the future: give a later time, or make the change now.');
  }
  checkNote(note);

  const author = notedBy(actor, note);
  const schedule = await writeRecord(context, author, async (tx) => {
    // Pending schedules are counted by project: two in different environments must not both take the last place.
    await lockProject(tx, (await findProject(tx, actor, input.project)).id);
    const environment = await lockPlace(tx, author, input);
    const { id: environmentId, projectId } = environment;

    const keys = steps.map(({ key }) => key);
    await requireFlags(tx, { projectId, keys });
    if (input.anyway !== true) await refuseOpenPlans(tx, environment, keys);
    const pending = await readSchedules(tx, { projectId, status: 'pending', settled: 0 });
    if (pending.length >= MAX_PENDING) {
      throw invalid(
        `The project has ${MAX_PENDING} pending schedules, which is the limit: cancel one first.`,
      );
    }

    const made: Schedule = {
      id: context.newId(),
      projectId,
      environmentId,
      changes: writeSteps(steps),
      ...(note === '' ? {} : { note }),
      createdBy: actor.name,
      createdAt,
      dueAt,
      status: 'pending',
      ...defined({ proposal: actor.approval?.proposal }),
    };
    await insertSchedule(tx, made);
    return withName(made, environment.name);
  });

  context.scheduled?.(dueAt);
  return schedule;
}

/** Refuses flags that a rollout plan of the environment is about to change: each would undo the other without a word. */
async function refuseOpenPlans(
  tx: Tx,
  { id: environmentId, projectId, name }: Environment,
  keys: readonly string[],
): Promise<void> {
  const plans = await readOpenPlans(tx, { projectId, environmentId, keys });
  const planned = new Set(plans.map(({ flagKey }) => flagKey));
  const key = keys.find((each) => planned.has(each));
  if (key === undefined) return;
  throw new ServiceError(
    'already_planned',
    `The flag ${quote(key)} has an open rollout plan in ${name}, which this change would pause: stop the plan first, or ` +
      'send "anyway": true (--anyway).',
  );
}

/**
 * Cancels a pending schedule and returns its record; a canceled one stays unchanged. `not_found`, `not_revertible` for
 * one that has run, `forbidden`.
 */
export function cancelSchedule(
  context: ManagementContext,
  actor: Actor,
  { project, id }: RecordPlace,
): Promise<Written<NamedSchedule>> {
  return writeRecord(context, actor, async (tx) => {
    const { id: projectId } = await findProject(tx, actor, project);
    const known = await findSchedule(tx, projectId, id);
    const environment = (await readEnvironments(tx, projectId)).find(
      (each) => each.id === known.environmentId,
    );
    if (environment !== undefined) requirePermission(actor, environment);

    await settleSchedule(tx, known, { status: 'cancelled', at: context.now() });
    const schedule = await findSchedule(tx, projectId, id);
    if (schedule.status === 'cancelled') return withName(schedule, environment?.name);

    const instead =
      schedule.status === 'failed' ? 'it failed, and nothing was changed' : 'revert the change it made';
    throw new ServiceError(
      'not_revertible',
      `The schedule is no longer pending (${schedule.status}), so it cannot be canceled: ${instead}.`,
    );
  });
}

async function findSchedule(db: Queryable, projectId: string, id: string): Promise<Schedule> {
  const schedule = await readSchedule(db, id);
  if (schedule?.projectId === projectId) return schedule;
  throw recordNotFound(
    `The project has no schedule with the id ${quote(id)}: list the schedules to find it.`,
  );
}
