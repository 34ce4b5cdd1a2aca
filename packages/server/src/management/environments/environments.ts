import { DEFAULT_ENVIRONMENTS } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { type Environment, type EnvironmentColor, PLAIN_LOOKS } from '../../domain/project.ts';
import type { StoreTransaction } from '../../domain/store.ts';
import { commitDone, commitWritten, type Written } from '../commit.ts';
import type { ManagementContext } from '../context.ts';
import { environmentNotFound, findEnvironment, findProject, lockPlace, type Place } from '../lookup.ts';
import { requireChangeOf } from '../permissions.ts';
import { checkName } from '../rules.ts';

/** A slip of the hand in production hurts, so changing it is guarded from the start. */
const DEFAULT_LOOKS = {
  development: { color: 'green', protected: false },
  staging: { color: 'amber', protected: false },
  production: { color: 'red', protected: true },
} as const;

/** How a new environment of that name looks until somebody changes it. */
export function looksOf(name: string): Pick<Environment, 'protected' | 'color'> {
  const known = DEFAULT_ENVIRONMENTS.find((one) => one === name);
  const { protected: isProtected, color } = known === undefined ? PLAIN_LOOKS : DEFAULT_LOOKS[known];
  return { protected: isProtected, color };
}

/** The environments of a project, by position and then by name. `project_not_found`. */
export function listEnvironments(
  context: ManagementContext,
  project: string,
): Promise<readonly Environment[]> {
  return context.store.read(async (reader) => reader.environments((await findProject(reader, project)).id));
}

/**
 * Makes an environment, empty, with the looks of its name where none are given. `invalid_argument`,
 * `project_not_found`, `already_exists`.
 */
export function createEnvironment(
  context: ManagementContext,
  actor: Actor,
  place: Place & { readonly looks?: Omit<EnvironmentLooks, 'position'> },
): Promise<Written<Environment>> {
  checkName('environment', place.environment);
  return commitWritten(context, actor, async (transaction) => {
    const project = await findProject(transaction, place.project);
    const made = { projectId: project.id, name: place.environment, ...place.looks };
    return addEnvironment(context, transaction, made);
  });
}

/**
 * Inserts an environment after the others of its project, with the looks of its name where none are given.
 * `already_exists`.
 */
export async function addEnvironment(
  context: ManagementContext,
  transaction: StoreTransaction,
  { projectId, name, ...looks }: Pick<Environment, 'projectId' | 'name'> & Omit<EnvironmentLooks, 'position'>,
): Promise<Environment> {
  // Writers of the project's flags and states lock what it has: they must not miss this one. It also keeps the
  // position its own.
  await transaction.lockProject(projectId);
  const others = await transaction.environments(projectId);
  const position = Math.max(-1, ...others.map((other) => other.position)) + 1;
  const createdAt = context.now();
  const place = { id: context.newId(), projectId, name, revision: 0, createdAt };
  return transaction.insertEnvironment({ ...place, ...looksOf(name), ...looks, position });
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

/**
 * Removes an environment with the states in it; its streams are closed, and what was scheduled for it is cancelled: a
 * later environment of its name must not be changed by it. `environment_not_found`.
 */
export function deleteEnvironment(
  context: ManagementContext,
  actor: Actor,
  place: Place,
): Promise<Written<object>> {
  return commitDone(context, actor, async (transaction) => {
    const environment = await lockPlace(transaction, actor, place);
    const { id: environmentId, projectId } = environment;
    const filter = { projectId, environmentId, status: 'pending', settled: 0 } as const;
    const outcome = 'The environment has been deleted.';
    for (const schedule of await transaction.schedules.list(filter))
      await transaction.schedules.settle(schedule, { status: 'cancelled', at: context.now(), outcome });
    await transaction.deleteEnvironment(environment);
  });
}
