import { defined } from '@halyard/protocol';
import type { Environment, StateOperation, StateText, StoredState } from '../../domain/project.ts';
import type { Queryable, Statement } from '../../storage/database.ts';
import type { Journal } from '../../storage/journal.ts';
import { ENVIRONMENT_BY_NAME, type EnvironmentNames } from '../../storage/places.ts';
import {
  byText,
  chunks,
  type Insert,
  insertions,
  type PageOf,
  pageRows,
  placeholders,
} from '../../storage/rows.ts';

/** A state with the id of its environment. */
export type PlacedState = StoredState & { readonly environmentId: string };

/** Flag keys that one statement names at most. */
const KEYS_PER_STATEMENT = 500;

const STATE_INSERT: Insert = {
  table: 'flag_states',
  columns: ['environment_id', 'flag_key', 'project_id', 'state', 'revision', 'updated_at', 'updated_by'],
  suffix: `ON CONFLICT (environment_id, flag_key) DO UPDATE
    SET state = excluded.state, revision = excluded.revision, updated_at = excluded.updated_at,
      updated_by = excluded.updated_by`,
};

const COLUMNS =
  'flag_key AS "flagKey", state, revision, updated_at AS "updatedAt", updated_by AS "updatedBy"';

/** The states of an environment, by flag key. With `page`, one state more than it takes at most. */
export async function readStoredStates(
  db: Queryable,
  environmentId: string,
  page?: PageOf<readonly [key: string]>,
): Promise<readonly StoredState[]> {
  const select = `SELECT ${COLUMNS} FROM flag_states WHERE environment_id = $1`;
  const rows = await pageRows<StoredState>(db, select, environmentId, { order: ['flag_key'], page });
  return byText(rows, ({ flagKey }) => flagKey);
}

/** One state. */
export async function readStoredState(
  db: Queryable,
  environmentId: string,
  flagKey: string,
): Promise<StoredState | undefined> {
  const [state] = await db.query<StoredState>(
    `SELECT ${COLUMNS} FROM flag_states WHERE environment_id = $1 AND flag_key = $2`,
    [environmentId, flagKey],
  );
  return state;
}

/** The states of these flags, or of all flags of the project, each with its environment; in no order. */
export async function readStatesIn(
  db: Queryable,
  projectId: string,
  flagKeys?: readonly string[],
): Promise<readonly PlacedState[]> {
  const select = `SELECT ${COLUMNS}, environment_id AS "environmentId" FROM flag_states WHERE project_id = $1`;
  if (flagKeys === undefined) return db.query<PlacedState>(select, [projectId]);

  const states: PlacedState[] = [];
  for (const keys of chunks(flagKeys, KEYS_PER_STATEMENT)) {
    const some = await db.query<PlacedState>(`${select} AND flag_key IN (${placeholders(keys.length, 1)})`, [
      projectId,
      ...keys,
    ]);
    for (const state of some) states.push(state);
  }
  return states;
}

/** The states of these flags in an environment, as texts by key. */
export async function readTexts(
  db: Queryable,
  environmentId: string,
  keys: readonly string[],
): Promise<Map<string, StateText>> {
  const texts = new Map<string, StateText>();
  for (const some of chunks(keys, KEYS_PER_STATEMENT)) {
    const rows = await db.query<{ key: string; state: StateText }>(
      `SELECT flag_key AS key, state FROM flag_states
        WHERE environment_id = $1 AND flag_key IN (${placeholders(some.length, 1)})`,
      [environmentId, ...some],
    );
    for (const { key, state } of rows) texts.set(key, state);
  }
  return texts;
}

/** Reads the states of these flags as {@link StoredState}. */
export function selectStates({ project, environment }: EnvironmentNames, keys: readonly string[]): Statement {
  return {
    text: `SELECT ${COLUMNS} FROM flag_states
      WHERE environment_id = ${ENVIRONMENT_BY_NAME} AND flag_key IN (${placeholders(keys.length, 2)})`,
    parameters: [project, environment, ...keys],
  };
}

/** Writes states of an environment at its new revision; `null` removes one. */
export function* storingStates(
  { id, projectId, revision }: Environment,
  states: ReadonlyMap<string, StoredState | null>,
): Generator<Statement> {
  yield {
    text: 'UPDATE environments SET revision = $1, guarded = $1 WHERE id = $2',
    parameters: [revision, id],
  };

  const rows = [...states.values()].flatMap((stored) =>
    stored === null
      ? []
      : [[id, stored.flagKey, projectId, stored.state, stored.revision, stored.updatedAt, stored.updatedBy]],
  );
  yield* insertions(STATE_INSERT, rows);

  const removed = [...states].flatMap(([key, stored]) => (stored === null ? [key] : []));
  for (const keys of chunks(removed, KEYS_PER_STATEMENT)) {
    yield {
      text: `DELETE FROM flag_states WHERE environment_id = $1 AND flag_key IN (${placeholders(keys.length, 1)})`,
      parameters: [id, ...keys],
    };
  }
}

/** Notes one change: a row of the change log at the environment's new revision, and an audit entry for each flag. */
export function noteChange(
  journal: Journal,
  { id, projectId, revision }: Environment,
  {
    changed,
    before,
  }: { readonly changed: readonly StateOperation[]; readonly before: ReadonlyMap<string, StateText> },
): void {
  const entries = changed.map(([key, state]) => ({
    action: 'flag.changed',
    projectId,
    environmentId: id,
    target: key,
    ...defined({ before: before.get(key), after: state ?? undefined }),
  }));
  journal.change(
    { kind: 'flags.changed', projectId, environmentId: id, revision, payload: changed },
    entries,
  );
}
