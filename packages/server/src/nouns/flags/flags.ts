import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import {
  type Flag,
  type FlagDetails,
  PLAIN_DETAILS,
  type StateText,
  type StoredState,
} from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { checkDetails, checkFlagKey } from '../../management/rules.ts';
import {
  checkRevision,
  type ExpectedRevision,
  requireChangeOf,
  type Written,
  writeDone,
  writeRecord,
} from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { interruptFlag } from '../interruptions.ts';
import { lockWholeProject } from '../locks.ts';
import { environmentNamed, findFlag, findProject } from '../lookup.ts';
import { changeStates } from '../states/change-states.ts';
import { readStatesIn, readStoredState } from '../states/state-table.ts';
import { detailsRevision } from './details-revision.ts';
import { readFlag, removeFlag, storeFlag } from './flag-table.ts';

/** A flag with its states by environment name. */
export interface FlagWithStates extends Flag {
  readonly states: ReadonlyMap<string, StoredState>;
}

/** The input for a new flag. */
export interface NewFlag extends Partial<FlagDetails> {
  readonly key: string;
  /** Its first states by environment name. */
  readonly states?: ReadonlyMap<string, StateText>;
}

/** Which flag of which project. */
export interface FlagPlace {
  readonly project: string;
  readonly key: string;
}

/** One flag with its states everywhere. `project_not_found`, `flag_not_found`. */
export function getFlag(context: ManagementContext, actor: Actor, place: FlagPlace): Promise<FlagWithStates> {
  return context.store.read(async (db) => {
    const project = await findProject(db, actor, place.project);
    return withStates(db, await findFlag(db, project.id, place.key));
  });
}

/**
 * Creates a flag, as one change in each of the given environments. `invalid_argument`, `project_not_found`,
 * `environment_not_found`, `already_exists`.
 */
export function createFlag(
  context: ManagementContext,
  actor: Actor,
  input: NewFlag & { readonly project: string },
): Promise<Written<FlagWithStates>> {
  const { key, states = new Map<string, StateText>() } = input;
  checkFlagKey(key);
  checkDetails(input);

  return writeRecord(context, actor, async (tx) => {
    const { id: projectId } = await findProject(tx, actor, input.project);
    // Every environment, also those without a state: two that create the same flag must not both succeed.
    const environments = await lockWholeProject(tx, projectId);
    const chosen = [...states].map(([name, state]) => ({
      environment: environmentNamed(environments, name),
      state,
    }));

    const known = await readFlag(tx, projectId, key);
    if (known !== undefined) throw alreadyExists(known);

    const flag: Flag = { ...withDetails(PLAIN_DETAILS, input), projectId, key, createdAt: context.now() };
    await storeFlag(tx, flag);
    for (const { environment, state } of chosen) {
      requireChangeOf(actor, environment);
      await changeStates(tx, environment, [[key, state]]);
    }

    return withStates(tx, flag);
  });
}

/**
 * Replaces details of a flag; no revision, no frame. `invalid_argument`, `flag_not_found`, `revision_conflict` where the details are
 * no longer those that the writer expects. (Spec: S21.5)
 */
export function updateFlag(
  context: ManagementContext,
  actor: Actor,
  input: FlagPlace & Partial<FlagDetails> & { readonly expected: ExpectedRevision },
): Promise<Written<FlagWithStates>> {
  checkDetails(input);

  return writeRecord(context, actor, async (tx) => {
    const project = await findProject(tx, actor, input.project);
    // Locked, so that a deleted flag cannot reappear and a concurrent change is not lost.
    await lockWholeProject(tx, project.id);
    const flag = await findFlag(tx, project.id, input.key);
    checkRevision(input.expected, detailsRevision(flag));

    const updated = withDetails(flag, input);
    await storeFlag(tx, updated);
    return withStates(tx, updated);
  });
}

/** The record with the details that `given` has. */
function withDetails<T extends FlagDetails>(record: T, given: Partial<FlagDetails>): T {
  const { description, tags, owner, permanent, valueKind, namedValues } = given;
  return { ...record, ...defined({ description, tags, owner, permanent, valueKind, namedValues }) };
}

/**
 * Removes a flag permanently: an archived one, or with `inUse` also a served one, with its states. All or
 * nothing. `flag_not_found`, `flag_not_archived`, `forbidden`, `confirmation_required`.
 */
export function deleteFlag(
  context: ManagementContext,
  actor: Actor,
  place: FlagPlace & { readonly inUse: boolean },
): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => {
    const project = await findProject(tx, actor, place.project);
    // Concurrent restores and state writes wait for this lock, and then find the flag deleted.
    const environments = await lockWholeProject(tx, project.id);
    const flag = await findFlag(tx, project.id, place.key);
    if (flag.archivedAt === undefined && !place.inUse) {
      throw new ServiceError(
        'flag_not_archived',
        `The flag "${flag.key}" is not archived, and only archived flags can be deleted: archive it first, or send ?archive=true.`,
      );
    }

    await interruptFlag(tx, flag, 'deleted');
    for (const environment of environments) {
      if ((await readStoredState(tx, environment.id, flag.key)) === undefined) continue;
      requireChangeOf(actor, environment);
      await changeStates(tx, environment, [[flag.key, null]]);
    }

    await removeFlag(tx, flag);
  });
}

/** The stored states that can be read; a damaged record counts as absent. */
export function readable<State extends StoredState>(states: readonly State[]): readonly State[] {
  return states.filter(({ state }) => stateParts(state) !== undefined);
}

/** The flag with its states everywhere. */
export async function withStates(db: Queryable, flag: Flag): Promise<FlagWithStates> {
  const { projectId, key } = flag;
  const placed = readable(await readStatesIn(db, projectId, [key]));
  const byId = new Map(placed.map(({ environmentId, ...state }) => [environmentId, state]));

  const states = new Map<string, StoredState>();
  for (const { id, name } of await readEnvironments(db, projectId)) {
    const state = byId.get(id);
    if (state !== undefined) states.set(name, state);
  }
  return { ...flag, states };
}

function alreadyExists({ key, archivedAt }: Flag): ServiceError {
  const advice =
    archivedAt === undefined
      ? 'change it, or choose another key'
      : 'it is archived, so restore it, or delete it first';
  return new ServiceError('already_exists', `The flag "${key}" already exists: ${advice}.`);
}
