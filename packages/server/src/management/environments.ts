import type { Actor } from '../domain/audit.ts';
import { type Environment, PLAIN_LOOKS } from '../domain/environment.ts';
import type { StoreTransaction } from '../domain/store.ts';
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
    return addEnvironment(context, transaction, { projectId: project.id, name: place.environment });
  });
}

/** Inserts an environment of plain looks after the others of its project. `already_exists`. */
export async function addEnvironment(
  context: ManagementContext,
  transaction: StoreTransaction,
  { projectId, name }: Pick<Environment, 'projectId' | 'name'>,
): Promise<Environment> {
  const others = await transaction.environments(projectId);
  const position = Math.max(-1, ...others.map((other) => other.position)) + 1;
  const createdAt = context.now();
  const place = { id: context.newId(), projectId, name, revision: 0, createdAt };
  return transaction.insertEnvironment({ ...place, ...PLAIN_LOOKS, position });
}

/** Removes an environment with the states in it; its streams are closed. `environment_not_found`. */
export function deleteEnvironment(context: ManagementContext, actor: Actor, place: Place): Promise<void> {
  return commit(context, actor, async (transaction) => {
    await transaction.deleteEnvironment(await lockPlace(transaction, actor, place));
  });
}
