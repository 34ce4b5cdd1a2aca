import type { Environment, StateText } from '../../domain/project.ts';
import type { StoreReader } from '../../domain/store.ts';
import { invalid } from '../../domain/strict-members.ts';
import type { ManagementContext } from '../context.ts';
import { environmentNotFound, findProject } from '../lookup.ts';
import { readable } from './flags.ts';

/** Which two environments of a project to compare. */
export interface ComparedPlaces {
  readonly project: string;
  readonly from: string;
  readonly to: string;
}

/** A flag whose state is another in two environments; absent where it has none. */
export interface StateDifference {
  readonly key: string;
  readonly from?: StateText;
  readonly to?: StateText;
}

/** Two environments and what is different in them. */
export interface Comparison {
  readonly from: Environment;
  readonly to: Environment;
  /** By key. */
  readonly differences: readonly StateDifference[];
}

/** Compares the states of two environments. `invalid_argument`, `project_not_found`, `environment_not_found`. */
export function compareEnvironments(context: ManagementContext, places: ComparedPlaces): Promise<Comparison> {
  return context.store.read(async (reader) => {
    const { from, to } = await findBoth(reader, places);
    return { from, to, differences: await differencesOf(reader, { from, to }) };
  });
}

/** The two environments, which must be two. `invalid_argument`, `project_not_found`, `environment_not_found`. */
export async function findBoth(
  reader: StoreReader,
  { project, from, to }: ComparedPlaces,
): Promise<{ readonly from: Environment; readonly to: Environment }> {
  if (from === to) throw invalid('Both environments are the same: name two.');
  const { id } = await findProject(reader, project);
  const environments = await reader.environments(id);
  const named = (name: string): Environment => {
    const environment = environments.find((candidate) => candidate.name === name);
    if (environment === undefined) throw environmentNotFound(name);
    return environment;
  };
  return { from: named(from), to: named(to) };
}

/** What is different in two environments, by key. */
export async function differencesOf(
  reader: StoreReader,
  { from, to }: { readonly from: Environment; readonly to: Environment },
): Promise<readonly StateDifference[]> {
  const there = await statesOf(reader, from);
  const here = await statesOf(reader, to);
  const keys = [...new Set([...there.keys(), ...here.keys()])].sort();
  return keys.flatMap((key) => {
    const [source, target] = [there.get(key), here.get(key)];
    if (source === target) return [];
    return {
      key,
      ...(source === undefined ? {} : { from: source }),
      ...(target === undefined ? {} : { to: target }),
    };
  });
}

async function statesOf(reader: StoreReader, { id }: Environment): Promise<ReadonlyMap<string, StateText>> {
  return new Map(readable(await reader.states(id)).map(({ flagKey, state }) => [flagKey, state]));
}
