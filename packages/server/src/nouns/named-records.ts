import { defined } from '@halyard/protocol';
import type { Actor } from '../domain/audit.ts';
import { environmentNotFound } from '../domain/errors.ts';
import type { ManagementContext } from '../management/context.ts';
import type { Queryable } from '../storage/database.ts';
import { readEnvironments } from './environments/environment-table.ts';
import { type EnvironmentPlace, findProject } from './lookup.ts';

/** A record with the name of its environment, which is absent once the environment is deleted. */
export type Named<Record> = Record & { readonly environment?: string };

/** The record with the name of its environment. */
export function withName<Record extends object>(
  record: Record,
  environment: string | undefined,
): Named<Record> {
  return { ...record, ...defined({ environment }) };
}

/** Where records are listed: in a project, or in one environment. */
export type ListedPlace = Pick<EnvironmentPlace, 'project'> & Partial<EnvironmentPlace>;

/** Lists records of a project, or of one environment, with names. `project_not_found`, `environment_not_found`. */
export function listNamed<Record extends { readonly environmentId: string }>(
  context: ManagementContext,
  actor: Actor,
  { project, environment }: ListedPlace,
  list: (
    db: Queryable,
    place: { readonly projectId: string; readonly environmentId?: string },
  ) => Promise<readonly Record[]>,
): Promise<readonly Named<Record>[]> {
  return context.store.read(async (db) => {
    const { id: projectId } = await findProject(db, actor, project);
    const environments = await readEnvironments(db, projectId);
    const chosen = environments.find(({ name }) => name === environment);
    if (environment !== undefined && chosen === undefined) throw environmentNotFound(environment);

    const records = await list(db, { projectId, ...defined({ environmentId: chosen?.id }) });
    const names = new Map(environments.map(({ id, name }) => [id, name]));
    return records.map((record) => withName(record, names.get(record.environmentId)));
  });
}
