import type { Actor } from '../domain/audit.ts';
import type { Environment } from '../domain/environment.ts';
import { commit } from './commit.ts';
import type { ManagementContext } from './context.ts';
import { findProject, lockPlace, type Place } from './lookup.ts';
import { checkName } from './rules.ts';

/** The environments of a project, by name. `project_not_found`. */
export function listEnvironments(
  context: ManagementContext,
  project: string,
): Promise<readonly Environment[]> {
  return context.store.read(async (reader) => reader.environments((await findProject(reader, project)).id));
}

/** Makes an environment, empty. `invalid_argument`, `project_not_found`, `already_exists`. */
export function createEnvironment(
  context: ManagementContext,
  actor: Actor,
  place: Place,
): Promise<Environment> {
  checkName('environment', place.environment);
  return commit(context, actor, async (transaction) => {
    const project = await findProject(transaction, place.project);
    return transaction.insertEnvironment({
      id: context.newId(),
      projectId: project.id,
      name: place.environment,
      revision: 0,
      createdAt: context.now(),
    });
  });
}

/** Removes an environment with the states in it; its streams are closed. `environment_not_found`. */
export function deleteEnvironment(context: ManagementContext, actor: Actor, place: Place): Promise<void> {
  return commit(context, actor, async (transaction) => {
    await transaction.deleteEnvironment(await lockPlace(transaction, place));
  });
}
