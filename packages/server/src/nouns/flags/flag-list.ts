import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import type { Flag, StoredState } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Queryable } from '../../storage/database.ts';
import type { PageOf } from '../../storage/rows.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { findProject } from '../lookup.ts';
import { readStatesIn } from '../states/state-table.ts';
import { readFlags } from './flag-table.ts';
import { type FlagWithStates, readable } from './flags.ts';

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
    const names = new Map((await readEnvironments(db, projectId)).map(({ id, name }) => [id, name]));
    const attach = (flags: readonly Flag[], keys?: readonly string[]) =>
      withAllStates(db, flags, { projectId, names, keys });

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

/** Where states are read: the names of environments by id, and the flags; absent for all. */
interface StatesOf {
  readonly projectId: string;
  readonly names: ReadonlyMap<string, string>;
  readonly keys: readonly string[] | undefined;
}

/** The flags with their states by environment name. */
async function withAllStates(
  db: Queryable,
  flags: readonly Flag[],
  { projectId, names, keys }: StatesOf,
): Promise<readonly FlagWithStates[]> {
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
function unchangedSince({ createdAt, states }: FlagWithStates, environments: number): number | undefined {
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

/** Whether the flag matches the filter. */
function matches(flag: Flag, { archived = 'false', text, tag, owner }: FlagFilter): boolean {
  if (archived !== 'all' && (flag.archivedAt !== undefined) !== (archived === 'true')) return false;
  if (tag !== undefined && !flag.tags.includes(tag)) return false;
  if (owner !== undefined && flag.owner.toLowerCase() !== owner.toLowerCase()) return false;
  if (text === undefined) return true;
  const wanted = text.trim().toLowerCase();
  return [flag.key, flag.description, flag.owner, ...flag.tags].some((one) =>
    one.toLowerCase().includes(wanted),
  );
}
