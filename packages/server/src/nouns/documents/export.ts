import type { Actor } from '../../domain/audit.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import { type FlagdRollouts, flagdDocument } from '../../domain/flagd-document.ts';
import { detailsOf, type Project, type StateText } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Queryable } from '../../storage/database.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { readAllArchivedStates, readFlags } from '../flags/flag-table.ts';
import { readable } from '../flags/flags.ts';
import { type EnvironmentPlace, findEnvironment, findProject } from '../lookup.ts';
import { readStoredStates } from '../states/state-table.ts';
import {
  type Declaration,
  type DeclaredEnvironment,
  type DeclaredFlag,
  type Section,
  settingsOf,
} from './document.ts';
import { declareSections } from './section-plan.ts';

/** A whole project as a declaration, archived flags included, with these sections. `project_not_found`, `forbidden`. (Spec: S25.1) */
export function exportProject(
  context: ManagementContext,
  actor: Actor,
  project: string,
  sections: readonly Section[] = [],
): Promise<Declaration> {
  return context.store.read(async (db) => {
    const found = await findProject(db, actor, project);
    const flags = await declare(db, found, sections.includes('settings'));
    return {
      ...flags,
      ...(await declareSections(db, actor, { project: found, sections, now: context.now() })),
    };
  });
}

async function declare(db: Queryable, { id, name }: Project, hasGuards: boolean): Promise<Declaration> {
  const environments = await readEnvironments(db, id);
  const archivedStates = await readAllArchivedStates(db, id);

  const flags = new Map<string, DeclaredFlag & { readonly states: Map<string, StateText> }>();
  for (const flag of await readFlags(db, id)) {
    const { key, archivedAt } = flag;
    const states = new Map<string, StateText>();
    for (const environment of archivedAt === undefined ? [] : environments) {
      const state = archivedStates.get(key)?.get(environment.id);
      if (state !== undefined && stateParts(state) !== undefined) states.set(environment.name, state);
    }
    const { owner, ...others } = detailsOf(flag);
    const details = { ...others, ...(owner !== '' && { owner }) };
    flags.set(key, { ...details, archived: archivedAt !== undefined, states });
  }

  for (const environment of environments) {
    for (const { flagKey, state } of readable(await readStoredStates(db, environment.id))) {
      flags.get(flagKey)?.states.set(environment.name, state);
    }
  }

  const declared = environments.map((environment): DeclaredEnvironment => {
    const { name, protected: isProtected, color } = environment;
    return { name, appearance: hasGuards ? settingsOf(environment) : { protected: isProtected, color } };
  });
  return { project: name, environments: declared, flags };
}

/** The flags of one environment for flagd, as they are now. `project_not_found`, `environment_not_found`. (Spec: S19.1) */
export async function exportForFlagd(
  context: ManagementContext,
  actor: Actor,
  { rollouts, ...place }: EnvironmentPlace & { readonly rollouts: FlagdRollouts },
): Promise<string> {
  const source = await context.store.read(async (db) => {
    const { id, name, revision } = await findEnvironment(db, actor, place);
    const stored = readable(await readStoredStates(db, id));
    const states = stored.map(({ flagKey, state }) => [flagKey, state] as const);
    return { environment: name, revision, states };
  });

  return await flagdDocument(source, rollouts);
}
