import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import {
  type Environment,
  type Flag,
  type FlagDetails,
  PLAIN_DETAILS,
  type StateText,
  type StoredState,
} from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { checkDetails, checkFlagKey } from '../../management/rules.ts';
import { requireChangeOf, type Written, writeDone, writeRecord } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { PageOf } from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { interruptRemoved } from '../interruptions.ts';
import { lockWholeProject } from '../locks.ts';
import { environmentNamed, findFlag, findProject } from '../lookup.ts';
import { changeStates } from '../states/change-states.ts';
import { type PlacedState, readStatesIn, readStoredState } from '../states/state-table.ts';
import { readFlag, readFlags, removeFlag, storeFlag } from './flag-table.ts';

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

/** Flags that are looked through for one page at most; a page may end without being full. */
const SCANNED_FLAGS = 10_000;

/** Some flags of a project. */
export interface FlagList {
  readonly flags: readonly FlagWithStates[];
  /** Where the next page begins; absent at the end of the list. */
  readonly next?: FlagPage['after'];
}

/** A page of flags: they are sorted by key. */
export type FlagPage = PageOf<readonly [key: string]>;

/**
 * The flags of a project with their states everywhere, by key, filtered; all of them, or a page. Archived
 * flags are left out by default. `project_not_found`.
 */
export function listFlags(
  context: ManagementContext,
  actor: Actor,
  project: string,
  { page, ...filter }: FlagFilter & { readonly page?: FlagPage | undefined } = {},
): Promise<FlagList> {
  return context.store.read(async (db) => {
    const { id: projectId } = await findProject(db, actor, project);
    const names = namesById(await readEnvironments(db, projectId));
    const attach = (flags: readonly Flag[], keys?: readonly string[]) =>
      withAllStates(db, { projectId, names, flags, ...defined({ keys }) });

    const { unchangedSince } = filter;
    const select = async (some: readonly Flag[], isWhole = false): Promise<readonly Flag[]> => {
      const flags = some.filter((flag) => matches(flag, filter));
      if (unchangedSince === undefined) return flags;
      const whole = await attach(flags, isWhole ? undefined : flags.map(({ key }) => key));
      return whole.filter((flag) => isStale(flag, { environments: names.size, unchangedSince }));
    };

    if (page === undefined)
      return { flags: await attach(await select(await readFlags(db, projectId), true)) };

    const { flags, next } = await pageOfFlags(db, projectId, { page, select });
    const keys = flags.map(({ key }) => key);
    return { flags: await attach(flags, keys), ...defined({ next }) };
  });
}

/** The flags with their states by environment name. With `keys`, reads the states of those flags only. */
async function withAllStates(
  db: Queryable,
  given: {
    readonly projectId: string;
    readonly names: ReadonlyMap<string, string>;
    readonly flags: readonly Flag[];
    readonly keys?: readonly string[];
  },
): Promise<readonly FlagWithStates[]> {
  const { projectId, names, flags, keys } = given;

  const states = new Map(flags.map((flag) => [flag.key, new Map<string, StoredState>()]));
  for (const { environmentId, ...state } of readable(await readStatesIn(db, projectId, keys))) {
    const name = names.get(environmentId);
    if (name !== undefined) states.get(state.flagKey)?.set(name, state);
  }

  return flags.map((flag) => ({ ...flag, states: states.get(flag.key) ?? new Map() }));
}

/** At least one flag more than the page takes if there is one, or where the search for them has stopped. */
async function pageOfFlags(
  db: Queryable,
  projectId: string,
  {
    page: { limit, after },
    select,
  }: { readonly page: FlagPage; readonly select: (flags: readonly Flag[]) => Promise<readonly Flag[]> },
): Promise<{ flags: readonly Flag[]; next?: FlagPage['after'] }> {
  const flags: Flag[] = [];
  const size = Math.max(limit, 1000);
  let place = after;

  for (let scanned = 0; scanned < SCANNED_FLAGS; scanned += size) {
    const some = (await readFlags(db, projectId, { limit: size, ...defined({ after: place }) })).slice(
      0,
      size,
    );
    flags.push(...(await select(some)));

    if (flags.length > limit) return { flags: flags.slice(0, limit + 1) };
    const last = some.at(-1);
    if (last === undefined || some.length < size) return { flags };
    place = [last.key];
  }

  return { flags, ...defined({ next: place }) };
}

/**
 * Since when a flag has been the same in every environment, in epoch milliseconds: on with the same value and rollout, or
 * nowhere. `undefined` while environments differ. A flag that is nowhere counts from its creation.
 */
export function unchangedSince(
  { createdAt, states }: FlagWithStates,
  environments: number,
): number | undefined {
  const [first, ...others] = [...states.values()];
  if (first === undefined) return createdAt;
  if (states.size < environments || others.some(({ state }) => state !== first.state)) return undefined;
  return Math.max(first.updatedAt, ...others.map(({ updatedAt }) => updatedAt));
}

/** Whether a flag in use has been the same everywhere since a time, and is not marked as permanent. */
function isStale(
  flag: FlagWithStates,
  given: { readonly environments: number; readonly unchangedSince: number },
): boolean {
  const since = unchangedSince(flag, given.environments);
  return (
    !flag.permanent && flag.archivedAt === undefined && since !== undefined && since <= given.unchangedSince
  );
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

/** Replaces details of a flag; no revision, no frame. `invalid_argument`, `flag_not_found`. */
export function updateFlag(
  context: ManagementContext,
  actor: Actor,
  input: FlagPlace & Partial<FlagDetails>,
): Promise<Written<FlagWithStates>> {
  checkDetails(input);

  return writeRecord(context, actor, async (tx) => {
    const project = await findProject(tx, actor, input.project);
    // Locked, so that a deleted flag cannot reappear and a concurrent change is not lost.
    await lockWholeProject(tx, project.id);
    const flag = await findFlag(tx, project.id, input.key);

    const updated = withDetails(flag, input);
    await storeFlag(tx, updated);
    return withStates(tx, updated);
  });
}

/** The record with the details that `given` has. */
function withDetails<T extends FlagDetails>(record: T, given: Partial<FlagDetails>): T {
  const { description, tags, owner, permanent, valueKind } = given;
  return { ...record, ...defined({ description, tags, owner, permanent, valueKind }) };
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

    await interruptDeleted(tx, flag);
    for (const environment of environments) {
      if ((await readStoredState(tx, environment.id, flag.key)) === undefined) continue;
      requireChangeOf(actor, environment);
      await changeStates(tx, environment, [[flag.key, null]]);
    }

    await removeFlag(tx, flag);
  });
}

/** Ends the schedules and plans of a flag that is about to be deleted. */
export async function interruptDeleted(
  tx: Tx,
  { projectId, key }: Pick<Flag, 'projectId' | 'key'>,
): Promise<void> {
  await interruptRemoved(tx, { projectId, keys: [key] }, `The flag "${key}" was deleted.`);
}

/** The stored states that can be read; a damaged record counts as absent. */
export function readable<State extends StoredState>(states: readonly State[]): readonly State[] {
  return states.filter(({ state }) => stateParts(state) !== undefined);
}

/** The flag with its states everywhere. */
export async function withStates(db: Queryable, flag: Flag): Promise<FlagWithStates> {
  const { projectId, key } = flag;
  const byId = new Map(
    readable(await readStatesIn(db, projectId, [key])).map((state) => [state.environmentId, state]),
  );

  const states = new Map<string, StoredState>();
  for (const { id, name } of await readEnvironments(db, projectId)) {
    const state = byId.get(id);
    if (state !== undefined) states.set(name, withoutPlace(state));
  }
  return { ...flag, states };
}

function withoutPlace({ environmentId: _, ...state }: PlacedState): StoredState {
  return state;
}

function namesById(environments: readonly Environment[]): ReadonlyMap<string, string> {
  return new Map(environments.map(({ id, name }) => [id, name]));
}

function alreadyExists({ key, archivedAt }: Flag): ServiceError {
  const advice =
    archivedAt === undefined
      ? 'change it, or choose another key'
      : 'it is archived, so restore it, or delete it first';
  return new ServiceError('already_exists', `The flag "${key}" already exists: ${advice}.`);
}

/** Whether to select archived flags. */
export const ARCHIVED_CHOICES = ['false', 'true', 'all'] as const;

/** A filter of a project's flags; all its members must match. */
export interface FlagFilter {
  /** Default `false`: those in use. */
  readonly archived?: (typeof ARCHIVED_CHOICES)[number];
  /** Text to find in the key, the description, a tag or the owner, ignoring case. */
  readonly text?: string;
  /** An exact tag. */
  readonly tag?: string;
  /** The exact owner, ignoring case. */
  readonly owner?: string;
  /** Only flags that have been the same in every environment since this time (epoch milliseconds), and are not permanent. */
  readonly unchangedSince?: number;
}

/** Whether the flag matches the filter. */
export function matches(flag: Flag, { archived = 'false', text, tag, owner }: FlagFilter): boolean {
  if (archived !== 'all' && (flag.archivedAt !== undefined) !== (archived === 'true')) return false;
  if (tag !== undefined && !flag.tags.includes(tag)) return false;
  if (owner !== undefined && flag.owner.toLowerCase() !== owner.toLowerCase()) return false;
  if (text === undefined) return true;
  const wanted = text.trim().toLowerCase();
  return [flag.key, flag.description, flag.owner, ...flag.tags].some((one) =>
    one.toLowerCase().includes(wanted),
  );
}
