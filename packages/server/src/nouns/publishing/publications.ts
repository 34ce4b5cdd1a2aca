import type { Actor } from '../../domain/audit.ts';
import type { ManagementContext } from '../../management/context.ts';
import { type Written, writeDone } from '../../management/write.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { lockPlace } from '../locks.ts';
import { type EnvironmentPlace, findProject } from '../lookup.ts';
import type { PendingPublication } from './publication.ts';
import { insertPublication, readPublications, storeWithdrawal } from './publication-table.ts';

/** A publication with the name of its environment, and the revision that the environment has at that moment. */
export interface NamedPublication extends PendingPublication {
  readonly environment: string;
  readonly environmentRevision: number;
}

/** The published environments of a project, by name. `project_not_found`. */
export function listPublications(
  context: ManagementContext,
  actor: Actor,
  project: string,
): Promise<readonly NamedPublication[]> {
  return context.store.read(async (db) => {
    const environments = await readEnvironments(db, (await findProject(db, actor, project)).id);
    const published = new Map((await readPublications(db)).map((each) => [each.environmentId, each]));
    const named = environments.flatMap(({ id, name, revision }) => {
      const publication = published.get(id);
      return publication?.isWanted
        ? [{ ...publication, environment: name, environmentRevision: revision }]
        : [];
    });
    return named.sort((a, b) => (a.environment < b.environment ? -1 : 1));
  });
}

/**
 * Publishes an environment: its flags can be read without a key from now on. For a protected one it needs the same permission
 * and confirmation as a change. `environment_not_found`. (Spec: S18.1)
 */
export function publishEnvironment(
  context: ManagementContext,
  actor: Actor,
  place: EnvironmentPlace,
): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => {
    const environment = await lockPlace(tx, actor, place);
    await insertPublication(tx, environment, `${place.project}/${place.environment}`);
  });
}

/** Stops publishing an environment, whose files are removed. Copies of them outside the storage stay. `environment_not_found`. */
export function withdrawEnvironment(
  context: ManagementContext,
  actor: Actor,
  place: EnvironmentPlace,
): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => {
    await storeWithdrawal(tx, await lockPlace(tx, actor, place));
  });
}
