import type { Statement } from './database.ts';
import { ENVIRONMENT_COLUMNS } from './reader.ts';
import { placeholders } from './rows.ts';

/** The names of an environment and its project: the first two parameters of a statement that finds it by them. */
export interface EnvironmentNames {
  readonly project: string;
  readonly environment: string;
}

const PROJECT_ID = '(SELECT id FROM projects WHERE name = $1)';

const IS_NAMED = `deleted_at IS NULL AND name = $2 AND project_id = ${PROJECT_ID}`;

/** SQL for the id of the environment that the first two parameters name. */
export const ENVIRONMENT_BY_NAME = `(SELECT id FROM environments WHERE ${IS_NAMED})`;

/** Locks the environment until the commit, and reads it as it is then. */
export function lockingEnvironment({ project, environment }: EnvironmentNames): Statement {
  return {
    // An UPDATE locks the row in either engine, and returns it as it is once the lock is held.
    text: `UPDATE environments SET revision = revision WHERE ${IS_NAMED} RETURNING ${ENVIRONMENT_COLUMNS}`,
    parameters: [project, environment],
  };
}

/** Reads which of these flags the project has, and since when they are archived. */
export function selectFlags(project: string, keys: readonly string[]): Statement {
  return {
    text: `SELECT key, archived_at AS "archivedAt" FROM flags
      WHERE project_id = ${PROJECT_ID} AND key IN (${placeholders(keys.length, 1)})`,
    parameters: [project, ...keys],
  };
}

/** Reads the id of a project. */
export function selectProject(name: string): Statement {
  return { text: 'SELECT id FROM projects WHERE name = $1', parameters: [name] };
}
