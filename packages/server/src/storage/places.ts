import { PEOPLE_NOUNS } from '../domain/audit.ts';

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

/** What an index of audit entries by action leaves out: the action of most entries. Exclude it in a query that looks for other actions, so that the index is used. */
export const COMMON_ACTION = 'flag.changed';

/** The entries that the index by action has. */
export const IS_SELDOM = `action <> '${COMMON_ACTION}'`;

/** The entries that are not about people and what they sign in with. */
export const NOT_ABOUT_PEOPLE = PEOPLE_NOUNS.map((noun) => `action NOT LIKE '${noun}.%'`).join(' AND ');

/** The entries of the operation with the number `at` that are not in its last row: an index has only such. */
export const beforeLastRow = (at: string) => `operation_seq = ${at} AND operation_seq <> seq`;

/**
 * Numbers of changes that make one stretch of the audit log. The indexes by environment and by actor have the first entry of each pair of both in
 * a stretch, so that most changes write neither; a search that finds a stretch reads all of it.
 */
export const STRETCH = 64;

/** The entries that these indexes have. */
export const IS_FIRST_IN_STRETCH = 'repeated IS NULL';
