import type { Actor } from '../domain/audit.ts';
import { type Environment, type EnvironmentColor, PLAIN_LOOKS } from '../domain/environment.ts';
import type { StoreTransaction } from '../domain/store.ts';
import { commit, commitWritten, type Written } from './commit.ts';
import type { ManagementContext } from './context.ts';
import { environmentNotFound, findEnvironment, findProject, lockPlace, type Place } from './lookup.ts';
import { requireChangeOf } from './permissions.ts';
import { checkName } from './rules.ts';

/** The environments of a project, by position and then by name. `project_not_found`. */
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
): Promise<Written<Environment>> {
  checkName('environment', place.environment);
  return commitWritten(context, actor, async (transaction) => {
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

/** What an environment looks like; what is absent stays. */
export interface EnvironmentLooks {
  readonly protected?: boolean;
  readonly color?: EnvironmentColor;
  /** A whole number from 0. */
  readonly position?: number;
}

/**
 * Changes what an environment looks like; no revision, no frame. To take its protection away is a change of what is
 * protected, and needs the permission and confirmation for it. `environment_not_found`.
 */
export function updateEnvironment(
  context: ManagementContext,
  actor: Actor,
  input: Place & { readonly looks: EnvironmentLooks },
): Promise<Written<Environment>> {
  return commitWritten(context, actor, async (transaction) => {
    const { id } = await findEnvironment(transaction, input);
    const environment = await transaction.lockEnvironment(id);
    if (environment === undefined) throw environmentNotFound(input.environment);
    const updated = { ...environment, ...input.looks };
    if (!updated.protected) requireChangeOf(actor, environment);
    await transaction.updateEnvironment(updated);
    return updated;
  });
}

/** Removes an environment with the states in it; its streams are closed. `environment_not_found`. */
export function deleteEnvironment(context: ManagementContext, actor: Actor, place: Place): Promise<void> {
  return commit(context, actor, async (transaction) => {
    await transaction.deleteEnvironment(await lockPlace(transaction, actor, place));
  });
}
