import type { Actor } from '../domain/audit.ts';
import { environmentNotFound, projectNotFound, quote, ServiceError } from '../domain/errors.ts';
import type { Environment, Flag, Project } from '../domain/project.ts';
import { sees } from '../management/rights.ts';
import type { Queryable } from '../storage/database.ts';
import { readEnvironment } from './environments/environment-table.ts';
import { readFlag } from './flags/flag-table.ts';
import { readProject } from './projects/project-table.ts';

/** The environment that an operation is about, by name. */
export interface EnvironmentPlace {
  readonly project: string;
  readonly environment: string;
}

/** A record of a project, by its id. */
export interface RecordPlace {
  readonly project: string;
  readonly id: string;
}

/**
 * The project of that name, or `project_not_found`: also for one that the actor may not see, and for one that has got the name
 * since the actor was authorized by its role in another.
 */
export async function findProject(db: Queryable, actor: Actor, name: string): Promise<Project> {
  const project = await readProject(db, name);
  const { projectId = project?.id } = actor;
  if (project !== undefined && project.id === projectId && sees(actor, projectId)) return project;
  throw projectNotFound(name);
}

/** The environment of that name, or `environment_not_found`, or as {@link findProject}. */
export async function findEnvironment(
  db: Queryable,
  actor: Actor,
  place: EnvironmentPlace,
): Promise<Environment> {
  const project = await findProject(db, actor, place.project);
  const environment = await readEnvironment(db, project.id, place.environment);
  if (environment !== undefined) return environment;
  throw environmentNotFound(place.environment);
}

/** The environment of that name among those of a project, or `environment_not_found`. */
export function environmentNamed(environments: readonly Environment[], name: string): Environment {
  const environment = environments.find((candidate) => candidate.name === name);
  if (environment !== undefined) return environment;
  throw environmentNotFound(name);
}

/** The flag of that key, or `flag_not_found`. */
export async function findFlag(db: Queryable, projectId: string, key: string): Promise<Flag> {
  const flag = await readFlag(db, projectId, key);
  if (flag !== undefined) return flag;
  throw flagNotFound(key);
}

/** The record does not exist, or not where the actor may see it; the message says how to find it. */
export function recordNotFound(message: string): ServiceError {
  return new ServiceError('not_found', message);
}

/** The environment of a record, such as a plan, has been deleted since. */
export function environmentDeleted(): ServiceError {
  return new ServiceError('environment_not_found', 'The environment has been deleted.');
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
