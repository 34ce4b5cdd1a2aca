import { CLOCK_TOLERANCE_MS } from '../domain/clock.ts';
import {
  DELETED_MARK,
  type Environment,
  type Flag,
  type Project,
  type ProjectKey,
  type StoredState,
} from '../domain/project.ts';
import type {
  ArchivedStates,
  PageOf,
  PlacedState,
  SearchHit,
  SearchQuery,
  StoreReader,
} from '../domain/store.ts';
import type { Parameter, Queryable } from './database.ts';
import {
  byText,
  chunks,
  type NullableColumns,
  parseArchivedStates,
  parseTextList,
  placeholders,
  withoutNulls,
} from './rows.ts';
import { searchEverywhere } from './search.ts';

/** The columns of an environment, as {@link Environment} names them. */
export const ENVIRONMENT_COLUMNS = `id, project_id AS "projectId", name, revision, protected, color, position,
  created_at AS "createdAt"`;
const PROJECT_COLUMNS = 'id, name, created_at AS "createdAt", usage_since AS "usageSince"';
const FLAG_COLUMNS = `project_id AS "projectId", key, description, tags, owner, permanent,
  value_kind AS "valueKind", created_at AS "createdAt",
  archived_at AS "archivedAt"`;
/** The columns of a state, as {@link StoredState} names them. */
export const STATE_COLUMNS = `flag_key AS "flagKey", state, revision, updated_at AS "updatedAt",
  updated_by AS "updatedBy"`;
const KEY_COLUMNS = `id, project_id AS "projectId", name, last_four AS "lastFour", environments,
  created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"`;

/** Flag keys that one statement names at most. */
export const KEYS_PER_STATEMENT = 500;

/** An environment as its row has it: the engines have no booleans in common. */
export type EnvironmentRow = Omit<Environment, 'protected'> & { readonly protected: number };
type ProjectRow = NullableColumns<Project>;
type FlagRow = NullableColumns<Omit<Flag, 'tags' | 'permanent'>> & {
  readonly tags: unknown;
  readonly permanent: number;
};
type KeyRow = NullableColumns<Omit<ProjectKey, 'environments'>> & { readonly environments: unknown };

/** Reads of the management side over one transaction or snapshot. */
export class SqlReader implements StoreReader {
  readonly #queryable: Queryable;

  /** Reads through `queryable`, which decides what is seen. */
  constructor(queryable: Queryable) {
    this.#queryable = queryable;
  }

  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return this.#queryable.query<Row>(text, parameters);
  }

  async projects(): Promise<readonly Project[]> {
    const rows = await this.#rows<ProjectRow>(`SELECT ${PROJECT_COLUMNS} FROM projects`);
    return byText(rows.map(withoutNulls<Project>), nameOf);
  }

  async project(name: string): Promise<Project | undefined> {
    const [row] = await this.#rows<ProjectRow>(
      `SELECT ${PROJECT_COLUMNS} FROM projects WHERE name = $1`,
      name,
    );
    return row && withoutNulls<Project>(row);
  }

  async environments(projectId: string): Promise<readonly Environment[]> {
    const text = `SELECT ${ENVIRONMENT_COLUMNS} FROM environments WHERE project_id = $1 AND deleted_at IS NULL`;
    const environments = (await this.#rows<EnvironmentRow>(text, projectId)).map(toEnvironment);
    return byText(environments, nameOf).sort((a, b) => a.position - b.position);
  }

  async environment(projectId: string, name: string): Promise<Environment | undefined> {
    const text = `SELECT ${ENVIRONMENT_COLUMNS} FROM environments
      WHERE project_id = $1 AND name = $2 AND deleted_at IS NULL`;
    const [row] = await this.#rows<EnvironmentRow>(text, projectId, name);
    return row === undefined ? undefined : toEnvironment(row);
  }

  async flags(projectId: string, page?: PageOf<readonly [string]>): Promise<readonly Flag[]> {
    const text = `SELECT ${FLAG_COLUMNS} FROM flags WHERE project_id = $1`;
    const rows = await this.#pageRows<FlagRow>(text, projectId, { order: ['key'], page });
    return byText(rows.map(toFlag), (flag) => flag.key);
  }

  async flag(projectId: string, key: string): Promise<Flag | undefined> {
    const text = `SELECT ${FLAG_COLUMNS} FROM flags WHERE project_id = $1 AND key = $2`;
    const [row] = await this.#rows<FlagRow>(text, projectId, key);
    return row === undefined ? undefined : toFlag(row);
  }

  async archivedStates({ projectId, key }: Pick<Flag, 'projectId' | 'key'>): Promise<ArchivedStates> {
    const archived = await this.#archivedStates('project_id = $1 AND key = $2', projectId, key);
    return archived.get(key) ?? new Map();
  }

  async archivedStatesIn(projectId: string): Promise<ReadonlyMap<string, ArchivedStates>> {
    return this.#archivedStates('project_id = $1 AND archived_at IS NOT NULL', projectId);
  }

  /**
   * Without those of an environment that was made again since: they are of an earlier one, whose id it has. That is removed
   * when an environment is made again, but was not by older versions, and a flag that is created again brings it back.
   */
  async #archivedStates(
    condition: string,
    ...parameters: readonly [projectId: string, ...string[]]
  ): Promise<ReadonlyMap<string, ArchivedStates>> {
    const flags = await this.#rows<{ key: string; states: string | null; at: number | null }>(
      `SELECT key, archived_states AS states, archived_at AS at FROM flags WHERE ${condition}`,
      ...parameters,
    );
    const madeAgain = await this.#rows<{ id: string; createdAt: number }>(
      // The expression makes both engines begin with the few deletions. The clocks alone would take a date that was wrong.
      `SELECT id, created_at AS "createdAt" FROM environments WHERE project_id = $1 AND EXISTS (
        SELECT 1 FROM audit_log WHERE action = 'environment.deleted' AND environment_id || '' = environments.id)`,
      parameters[0],
    );

    return new Map(
      flags.map(({ key, states, at }) => {
        const kept = new Map(parseArchivedStates(states ?? undefined));
        for (const { id, createdAt } of madeAgain)
          if (createdAt > (at ?? 0) + CLOCK_TOLERANCE_MS) kept.delete(id);
        return [key, kept];
      }),
    );
  }

  async states(environmentId: string, page?: PageOf<readonly [string]>): Promise<readonly StoredState[]> {
    const text = `SELECT ${STATE_COLUMNS} FROM flag_states WHERE environment_id = $1`;
    const rows = await this.#pageRows<StoredState>(text, environmentId, { order: ['flag_key'], page });
    return byText(rows, (state) => state.flagKey);
  }

  async state(environmentId: string, flagKey: string): Promise<StoredState | undefined> {
    const text = `SELECT ${STATE_COLUMNS} FROM flag_states WHERE environment_id = $1 AND flag_key = $2`;
    const [state] = await this.#rows<StoredState>(text, environmentId, flagKey);
    return state;
  }

  async statesIn(projectId: string, flagKeys?: readonly string[]): Promise<readonly PlacedState[]> {
    const text = `SELECT ${STATE_COLUMNS}, environment_id AS "environmentId" FROM flag_states WHERE project_id = $1`;
    if (flagKeys === undefined) return this.#rows<PlacedState>(text, projectId);
    const states: PlacedState[] = [];
    for (const keys of chunks(flagKeys, KEYS_PER_STATEMENT)) {
      const some = await this.#rows<PlacedState>(
        `${text} AND flag_key IN (${placeholders(keys.length, 1)})`,
        ...[projectId, ...keys],
      );
      for (const state of some) states.push(state);
    }
    return states;
  }

  async keys(
    projectId: string,
    page?: PageOf<readonly [name: string, id: string]>,
  ): Promise<readonly ProjectKey[]> {
    const text = `SELECT ${KEY_COLUMNS} FROM project_keys WHERE project_id = $1`;
    const rows = await this.#pageRows<KeyRow>(text, projectId, { order: ['name', 'id'], page });
    return page === undefined ? byText(rows.map(toKey), nameOf) : rows.map(toKey);
  }

  async key(id: string): Promise<ProjectKey | undefined> {
    const [row] = await this.#rows<KeyRow>(`SELECT ${KEY_COLUMNS} FROM project_keys WHERE id = $1`, id);
    return row === undefined ? undefined : toKey(row);
  }

  search(text: string, query: SearchQuery): Promise<readonly SearchHit[]> {
    return searchEverywhere(this.#queryable, text, query);
  }

  /** The rows that `text` selects with `owner` as its parameter, or a page of them and one more, in order of code points. */
  #pageRows<Row>(
    text: string,
    owner: string,
    {
      order,
      page,
    }: { readonly order: readonly string[]; readonly page: PageOf<readonly string[]> | undefined },
  ): Promise<Row[]> {
    if (page === undefined) return this.#rows<Row>(text, owner);
    const columns = order.map((column) => `${column} COLLATE "C"`).join(', ');
    const after = page.after ?? order.map(() => '');
    return this.#rows<Row>(
      `${text} AND (${columns}) > (${placeholders(order.length, 2)}) ORDER BY ${columns} LIMIT $2`,
      ...[owner, page.limit + 1, ...after],
    );
  }

  #rows<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]> {
    return this.#queryable.query<Row>(text, parameters);
  }
}

function nameOf(record: { readonly name: string }): string {
  return record.name;
}

/** The record of an environment's row. */
export function toEnvironment(row: EnvironmentRow): Environment {
  return { ...row, protected: row.protected !== 0 };
}

function toFlag({ tags, permanent, ...row }: FlagRow): Flag {
  const record = withoutNulls<Omit<Flag, 'tags' | 'permanent'>>(row);
  return { ...record, tags: parseTextList(tags), permanent: permanent !== 0 };
}

function toKey({ environments, ...row }: KeyRow): ProjectKey {
  return {
    ...withoutNulls<Omit<ProjectKey, 'environments'>>(row),
    environments: parseTextList(environments).filter((name) => !name.endsWith(DELETED_MARK)),
  };
}
