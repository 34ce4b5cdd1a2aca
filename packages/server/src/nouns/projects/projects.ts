import { DEFAULT_ENVIRONMENTS } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import type { Environment, Project } from '../../domain/project.ts';
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
  const projects = await context.store.read((reader) => readProjects(reader));
  return projects.filter(({ id }) => sees(actor, id));
}

/** One project, or `project_not_found`. */
export function getProject(
  context: ManagementContext,
  actor: Actor,
  name: string,
): Promise<ProjectWithEnvironments> {
  return context.store.read(async (reader) => {
    const project = await findProject(reader, actor, name);
    return { ...project, environments: await readEnvironments(reader, project.id) };
  });
}

/** Creates a project with the default environments. `invalid_argument`, `already_exists`. (Spec: S2.1) */
export function createProject(
  context: ManagementContext,
  actor: Actor,
  input: { readonly name: string },
): Promise<Written<ProjectWithEnvironments>> {
  checkName('project', input.name);
  return writeRecord(context, actor, async (transaction) => {
    const createdAt = context.now();
    const project: Project = { id: context.newId(), name: input.name, createdAt };
    await insertProject(transaction, project);
    for (const [position, name] of DEFAULT_ENVIRONMENTS.entries()) {
      const place = { id: context.newId(), projectId: project.id, name, revision: 0, position, createdAt };
      await insertEnvironment(transaction, { ...place, ...defaultAppearance(name) });
    }
    return { ...project, environments: await readEnvironments(transaction, project.id) };
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
  return writeRecord(context, actor, async (transaction) => {
    const { id } = await findProject(transaction, actor, input.project);
    await lockProject(transaction, id);
    const project = await findProject(transaction, actor, input.project);
    const { usage = project.usageSince !== undefined } = input;
    await storeUsage(transaction, project, usage ? context.now() : undefined);
    return {
      ...(await findProject(transaction, actor, input.project)),
      environments: await readEnvironments(transaction, id),
    };
  });
}

/** Deletes a project and everything in it. `project_not_found`. */
export function deleteProject(
  context: ManagementContext,
  actor: Actor,
  name: string,
): Promise<Written<object>> {
  return writeDone(context, actor, async (transaction) => {
    const project = await findProject(transaction, actor, name);
    const environments = await lockWholeProject(transaction, project.id);
    for (const environment of environments) requireChangeOf(actor, environment);
    await removeProject(transaction, project);
  });
}
