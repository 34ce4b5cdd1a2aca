import type { StateText } from '../../domain/project.ts';
import type { StoreReader } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';
import { readable } from '../flags/flags.ts';
import { findProject } from '../lookup.ts';
import type { Declaration, DeclaredFlag } from './declaration.ts';

/** A whole project as a declaration, archived flags left out. `project_not_found`. */
export function exportProject(context: ManagementContext, project: string): Promise<Declaration> {
  return context.store.read((reader) => declare(reader, project));
}

async function declare(reader: StoreReader, project: string): Promise<Declaration> {
  const { id, name } = await findProject(reader, project);
  const environments = await reader.environments(id);
  const flags = new Map<string, DeclaredFlag & { readonly states: Map<string, StateText> }>();
  for (const { key, description, tags, owner, archivedAt } of await reader.flags(id)) {
    if (archivedAt !== undefined) continue;
    flags.set(key, { description, tags, ...(owner === '' ? {} : { owner }), states: new Map() });
  }
  for (const environment of environments) {
    for (const { flagKey, state } of readable(await reader.states(environment.id))) {
      flags.get(flagKey)?.states.set(environment.name, state);
    }
  }
  return { project: name, environments: environments.map((environment) => environment.name), flags };
}
