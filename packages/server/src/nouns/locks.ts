import type { Actor } from '../domain/audit.ts';
import { environmentNotFound } from '../domain/errors.ts';
import type { Environment } from '../domain/project.ts';
import { requireChangeOf } from '../management/write.ts';
import type { Tx } from '../storage/tx.ts';
import { lockEnvironment, readEnvironments } from './environments/environment-table.ts';
import { type EnvironmentPlace, findEnvironment } from './lookup.ts';
import { lockProject } from './projects/project-table.ts';

/**
 * As {@link findEnvironment}, checks that the actor may change its states (`forbidden`, `confirmation_required`), and
 * locks it until the commit.
 */
export async function lockPlace(tx: Tx, actor: Actor, place: EnvironmentPlace): Promise<Environment> {
  const { id } = await findEnvironment(tx, actor, place);
  const environment = await lockEnvironment(tx, id);
  if (environment === undefined) throw environmentNotFound(place.environment);
  requireChangeOf(actor, environment);
  return environment;
}

/**
 * Locks environments in the order that keeps two operations from waiting for each other. Returns those that still exist.
 * Callers check with {@link requireChangeOf} that the actor may change one before they change it.
 */
export async function lockAll(tx: Tx, environments: readonly Environment[]): Promise<readonly Environment[]> {
  const locked: Environment[] = [];
  for (const { id } of environments.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const environment = await lockEnvironment(tx, id);
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
export async function lockWholeProject(tx: Tx, projectId: string): Promise<readonly Environment[]> {
  await lockProject(tx, projectId);
  return lockAll(tx, await readEnvironments(tx, projectId));
}
