import type { Actor } from '../domain/audit.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Environment, Flag, Project } from '../domain/project.ts';
import type { StoreReader, StoreTransaction } from '../domain/store.ts';
import { quote } from '../domain/strict-members.ts';
import { requireChangeOf } from './permissions.ts';

/** The environment that an operation is about, by name. */
export interface EnvironmentPlace {
  readonly project: string;
  readonly environment: string;
}

/** The project of that name, or `project_not_found`. */
export async function findProject(reader: StoreReader, name: string): Promise<Project> {
  const project = await reader.project(name);
  if (project !== undefined) return project;
  throw new ServiceError(
    'project_not_found',
    `The project ${quote(name)} does not exist: check the name, or create it.`,
  );
}

/** The environment of that name, or `project_not_found` or `environment_not_found`. */
export async function findEnvironment(reader: StoreReader, place: EnvironmentPlace): Promise<Environment> {
  const project = await findProject(reader, place.project);
  const environment = await reader.environment(project.id, place.environment);
  if (environment !== undefined) return environment;
  throw environmentNotFound(place.environment);
}

/**
 * As {@link findEnvironment}, checks that the actor may change its states (`forbidden`, `confirmation_required`), and
 * locks it until the commit.
 */
export async function lockPlace(
  transaction: StoreTransaction,
  actor: Actor,
  place: EnvironmentPlace,
): Promise<Environment> {
  const { id } = await findEnvironment(transaction, place);
  const environment = await transaction.lockEnvironment(id);
  if (environment === undefined) throw environmentNotFound(place.environment);
  requireChangeOf(actor, environment);
  return environment;
}

/**
 * Locks environments in the order that keeps two operations from waiting for each other. Returns those that still exist.
 * Callers check with {@link requireChangeOf} that the actor may change one before they change it.
 */
export async function lockAll(
  transaction: StoreTransaction,
  environments: readonly Environment[],
): Promise<readonly Environment[]> {
  const locked: Environment[] = [];
  for (const { id } of environments.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const environment = await transaction.lockEnvironment(id);
    if (environment !== undefined) locked.push(environment);
  }
  return byName(locked);
}

/** Sorted by name: changes, and previews of them, visit environments in this order. */
export function byName(environments: readonly Environment[]): readonly Environment[] {
  return environments.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Locks a project and all its environments, for changes of flags as such, and returns the environments. A project
 * without environments has only its own lock to keep two writers apart.
 */
export async function lockProject(
  transaction: StoreTransaction,
  projectId: string,
): Promise<readonly Environment[]> {
  await transaction.lockProject(projectId);
  return lockAll(transaction, await transaction.environments(projectId));
}

/** The flag of that key, or `flag_not_found`. */
export async function findFlag(reader: StoreReader, projectId: string, key: string): Promise<Flag> {
  const flag = await reader.flag(projectId, key);
  if (flag !== undefined) return flag;
  throw flagNotFound(key);
}

/** The flag does not exist in this project or environment. */
export function flagNotFound(key: string): ServiceError {
  return new ServiceError(
    'flag_not_found',
    `The flag ${quote(key)} does not exist here: check the key, or create it.`,
  );
}

/** The flag is archived, so its states cannot change. */
export function flagArchived(key: string): ServiceError {
  return new ServiceError(
    'flag_archived',
    `The flag ${quote(key)} is archived: restore it before you change its states.`,
  );
}

/** The environment does not exist in the project. */
export function environmentNotFound(name: string): ServiceError {
  return new ServiceError(
    'environment_not_found',
    `The project has no environment ${quote(name)}: check the name, or create it.`,
  );
}
