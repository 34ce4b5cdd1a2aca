/** The names of an environment and its project: the first two parameters of a statement that finds it by them. */
export interface EnvironmentNames {
  readonly project: string;
  readonly environment: string;
}

/** SQL for the id of the project that the first parameter names. */
export const PROJECT_BY_NAME = '(SELECT id FROM projects WHERE name = $1)';

/** SQL for the condition on the environment that the first two parameters name. */
export const IS_NAMED_ENVIRONMENT = `deleted_at IS NULL AND name = $2 AND project_id = ${PROJECT_BY_NAME}`;

/** SQL for its id. */
export const ENVIRONMENT_BY_NAME = `(SELECT id FROM environments WHERE ${IS_NAMED_ENVIRONMENT})`;
