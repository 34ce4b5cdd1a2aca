import { DEFAULT_ENVIRONMENTS } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { type Environment, PLAIN_APPEARANCE, type Project } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { sees } from '../../management/rights.ts';
import { checkName } from '../../management/rules.ts';
import { requireChangeOf, type Written, writeDone, writeRecord } from '../../management/write.ts';
import { insertEnvironment, readEnvironments } from '../environments/environment-table.ts';
import { defaultAppearance } from '../environments/environments.ts';
import { lockWholeProject } from '../locks.ts';
import { findProject } from '../lookup.ts';
import { insertProject, lockProject, readProjects, removeProject, storeUsage } from './project-table.ts';

/** A project with its environments, in the order of their positions. */
export interface ProjectWithEnvironments extends Project {
  readonly environments: readonly Environment[];
}

/** The projects that the actor may see, by name. */
export async function listProjects(context: ManagementContext, actor: Actor): Promise<readonly Project[]> {
  const projects = await context.store.read((db) => readProjects(db));
  return projects.filter(({ id }) => sees(actor, id));
}

/** One project, or `project_not_found`. */
export function getProject(
  context: ManagementContext,
  actor: Actor,
  name: string,
): Promise<ProjectWithEnvironments> {
  return context.store.read(async (db) => {
    const project = await findProject(db, actor, name);
    return { ...project, environments: await readEnvironments(db, project.id) };
  });
}

/** Creates a project with the default environments. `invalid_argument`, `already_exists`. (Spec: S2.1) */
export function createProject(
  context: ManagementContext,
  actor: Actor,
  input: { readonly name: string },
): Promise<Written<ProjectWithEnvironments>> {
  checkName('project', input.name);

  return writeRecord(context, actor, async (tx) => {
    const createdAt = context.now();
    const project: Project = { id: context.newId(), name: input.name, createdAt };
    await insertProject(tx, project);

    for (const [position, name] of DEFAULT_ENVIRONMENTS.entries()) {
      const place = { id: context.newId(), projectId: project.id, name, revision: 0, position, createdAt };
      await insertEnvironment(tx, { ...PLAIN_APPEARANCE, ...defaultAppearance(name), ...place });
    }

    return { ...project, environments: await readEnvironments(tx, project.id) };
  });
}

/**
 * Sets whether the clients of a project are asked to report how often they read each flag. Turning it off keeps the counts
 * until they expire. `project_not_found`.
 */
export function updateProject(
  context: ManagementContext,
  actor: Actor,
  input: { readonly project: string; readonly usage?: boolean },
): Promise<Written<ProjectWithEnvironments>> {
  return writeRecord(context, actor, async (tx) => {
    const { id } = await findProject(tx, actor, input.project);
    await lockProject(tx, id);
    const project = await findProject(tx, actor, input.project);

    const { usage = project.usageSince !== undefined } = input;
    await storeUsage(tx, project, usage ? context.now() : undefined);

    return {
      ...(await findProject(tx, actor, input.project)),
      environments: await readEnvironments(tx, id),
    };
  });
}

/** Deletes a project and everything in it. `project_not_found`. */
export function deleteProject(
  context: ManagementContext,
  actor: Actor,
  name: string,
): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => {
    const project = await findProject(tx, actor, name);
    const environments = await lockWholeProject(tx, project.id);
    for (const environment of environments) requireChangeOf(actor, environment);
    await removeProject(tx, project);
  });
}
