import { defined, elementsOf } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import { readState } from '../../domain/flag-state-text.ts';
import type { Environment, StateOperation, StateText } from '../../domain/project.ts';
import { RawJson, writeJson } from '../../domain/raw-json.ts';
import type { Schedule, ScheduleStatus } from '../../domain/schedule.ts';
import type { StoreReader, StoreTransaction } from '../../domain/store.ts';
import { at, memberPath, readMembers } from '../../domain/strict-members.ts';
import type { ManagementContext } from '../context.ts';
import { applyPatch, checkPatch, requireFlags, type StatePatch } from '../flags/flag-states.ts';
import { type EnvironmentPlace, findProject } from '../lookup.ts';
import { checkFlagKey, checkNote, notedBy } from '../rules.ts';
import { lockPlace, requireChangeOf, type Written, writeRecord } from '../write.ts';
import { listNamed, type Named, withName } from './due-records.ts';

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

/** Which schedules to list. */
export interface ScheduleQuery {
  readonly project: string;
  readonly environment?: string;
  readonly status?: ScheduleStatus;
}

/**
 * Scheduled changes of a project: all pending ones, the next due one first, then the newest settled ones.
 * `project_not_found`, `environment_not_found`.
 */
export function listSchedules(
  context: ManagementContext,
  actor: Actor,
  { status, ...place }: ScheduleQuery,
): Promise<readonly NamedSchedule[]> {
  const filter = { settled: SETTLED_SHOWN, ...defined({ status }) };
  return listNamed(context, actor, place, ({ schedules }, found) => schedules.list({ ...found, ...filter }));
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
  if (dueAt <= createdAt)
    throw invalid('"dueAt" is not in the future: give a later time, or make the change now.');
  checkNote(note);
  const schedule = await writeRecord(context, notedBy(actor, note), async (transaction) => {
    // Pending schedules are counted by project: two in different environments must not both take the last place.
    await transaction.lockProject((await findProject(transaction, actor, input.project)).id);
    const environment = await lockPlace(transaction, actor, input);
    const { id: environmentId, projectId } = environment;
    const keys = steps.map(({ key }) => key);
    await requireFlags(transaction, { projectId, keys });
    if (input.anyway !== true) await refuseOpenPlans(transaction, environment, keys);
    const pending = await transaction.schedules.list({ projectId, status: 'pending', settled: 0 });
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
    };
    await transaction.schedules.insert(made);
    return withName(made, environment.name);
  });
  context.scheduled?.(dueAt);
  return schedule;
}

/** Refuses flags that a rollout plan of the environment is about to change: each would undo the other without a word. */
async function refuseOpenPlans(
  transaction: StoreTransaction,
  { id, name }: Environment,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    if ((await transaction.rollouts.openOf(id, key)) === undefined) continue;
    throw new ServiceError(
      'already_planned',
      `The flag ${quote(key)} has an open rollout plan in ${name}, which this change would pause: stop the plan first, or ` +
        'send "anyway": true (--anyway).',
    );
  }
}

/**
 * Cancels a pending schedule and returns its record; a canceled one stays unchanged. `not_found`, `not_revertible` for
 * one that has run, `forbidden`.
 */
export function cancelSchedule(
  context: ManagementContext,
  actor: Actor,
  { project, id }: { readonly project: string; readonly id: string },
): Promise<Written<NamedSchedule>> {
  return writeRecord(context, actor, async (transaction) => {
    const { id: projectId } = await findProject(transaction, actor, project);
    const known = await findSchedule(transaction, { projectId, id });
    const environment = (await transaction.environments(projectId)).find(
      (candidate) => candidate.id === known.environmentId,
    );
    // Canceling does not change a flag, so it needs the permission but no confirmation.
    const confirmed: Actor = { ...actor, permissions: { ...actor.permissions, confirmed: 'all' } };
    if (environment !== undefined) requireChangeOf(confirmed, environment);
    await transaction.schedules.settle(known, { status: 'cancelled', at: context.now() });
    const schedule = await findSchedule(transaction, { projectId, id });
    if (schedule.status === 'cancelled') return withName(schedule, environment?.name);
    const instead =
      schedule.status === 'failed' ? 'it failed, and nothing was changed' : 'revert the change it made';
    throw new ServiceError(
      'not_revertible',
      `The schedule is no longer pending (${schedule.status}), so it cannot be canceled: ${instead}.`,
    );
  });
}

async function findSchedule(
  reader: StoreReader,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): Promise<Schedule> {
  const schedule = await reader.schedules.find(id);
  if (schedule?.projectId === projectId) return schedule;
  throw new ServiceError(
    'not_found',
    `The project has no schedule with the id ${quote(id)}: list the schedules to find it.`,
  );
}

/** Most flags in one schedule. */
export const MAX_SCHEDULED = 1000;

/** One step of a schedule: a whole state, `null` to remove it, or a patch of the state at that time. */
export type ScheduledStep = { readonly key: string } & (
  | { readonly state: StateText | null }
  | { readonly patch: StatePatch }
);

/**
 * Reads steps from the raw text of a list such as `[{"key": "a", "state": {…}}, {"key": "b", "patch": {…}}]`.
 * Anything else is `invalid_argument`. The text must be valid JSON.
 */
export function readSteps(text: string, path = 'changes'): readonly ScheduledStep[] {
  const elements = elementsOf(text);
  if (elements === undefined) throw invalid(`${at(path)} must be a list.`);
  if (elements.length === 0 || elements.length > MAX_SCHEDULED) {
    throw invalid(`${at(path)} has ${elements.length} entries: name 1 to ${MAX_SCHEDULED} flags.`);
  }
  const steps = elements.map((element, index) => readStep(element, `${path}[${index}]`));
  const seen = new Set<string>();
  for (const { key } of steps) {
    if (seen.has(key))
      throw invalid(`${at(path)} names ${quote(key)} more than once: give one step per flag.`);
    seen.add(key);
  }
  return steps;
}

/** The steps as the text that {@link readSteps} reads, each value as its writer sent it. */
function writeSteps(steps: readonly ScheduledStep[]): string {
  return writeJson(
    steps.map((step) => {
      if ('state' in step) return { key: step.key, state: new RawJson(step.state ?? 'null') };
      const { enabled, valueText, rolloutPct, unset } = step.patch;
      const value = valueText === undefined ? undefined : new RawJson(valueText);
      return { key: step.key, patch: { enabled, value, rolloutPct, unset } };
    }),
  );
}

/** The operation of a step on the current state, `undefined` when the flag has no state. */
export function operationOf(step: ScheduledStep, current: StateText | undefined): StateOperation {
  return [step.key, 'state' in step ? step.state : applyPatch(current, step.patch)];
}

function readStep(text: string, path: string): ScheduledStep {
  const members = readMembers(text, path, { required: ['key'], optional: ['state', 'patch'] });
  const key: unknown = JSON.parse(members.get('key') ?? 'null');
  if (typeof key !== 'string') throw invalid(`${at(memberPath(path, 'key'))} must be a flag key.`);
  checkFlagKey(key);
  const [state, patch] = [members.get('state'), members.get('patch')];
  if ((state === undefined) === (patch === undefined)) {
    throw invalid(`${at(path)} must have either "state" or "patch".`);
  }
  if (patch !== undefined) return { key, patch: readPatch(patch, memberPath(path, 'patch')) };
  if (state === undefined || state === 'null') return { key, state: null };
  return { key, state: readState(state, memberPath(path, 'state')) };
}

function readPatch(text: string, path: string): StatePatch {
  const members = readMembers(text, path, {
    required: [],
    optional: ['enabled', 'value', 'rolloutPct', 'unset'],
  });
  const member = (name: string): unknown => JSON.parse(members.get(name) ?? 'null');
  const has = (name: string) => members.has(name);
  const [enabled, rolloutPct, unset] = [member('enabled'), member('rolloutPct'), member('unset')];
  if (has('enabled') && typeof enabled !== 'boolean') {
    throw invalid(`${at(memberPath(path, 'enabled'))} must be true or false.`);
  }
  if (has('rolloutPct') && typeof rolloutPct !== 'number') {
    throw invalid(`${at(memberPath(path, 'rolloutPct'))} must be a number from 0 to 100.`);
  }
  if (has('unset') && !isUnset(unset)) {
    throw invalid(`${at(memberPath(path, 'unset'))} must be a list of "value" and "rolloutPct".`);
  }
  const valueText = members.get('value');
  const patch: StatePatch = {
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(valueText === undefined ? {} : { valueText }),
    ...(typeof rolloutPct === 'number' ? { rolloutPct } : {}),
    ...(isUnset(unset) ? { unset } : {}),
  };
  checkPatch(patch);
  // Refuses an invalid value or percentage now rather than when the change is due.
  applyPatch(undefined, patch);
  return patch;
}

function isUnset(data: unknown): data is ('value' | 'rolloutPct')[] {
  return Array.isArray(data) && data.every((item) => item === 'value' || item === 'rolloutPct');
}
