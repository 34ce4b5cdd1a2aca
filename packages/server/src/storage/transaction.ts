import { ServiceError } from '../domain/errors.ts';
import type { AccessToken } from '../domain/people.ts';
import type { Environment, Flag, Project, ProjectKey, StateOperation } from '../domain/project.ts';
import type { ArchivedStates, StatesChanged, StoreTransaction } from '../domain/store.ts';
import type { Parameter, WriteTransaction } from './database.ts';
import { FlagWriter } from './flag-writer.ts';
import type { Journal } from './journal.ts';
import { SqlPeopleWriter } from './people.ts';
import { ENVIRONMENT_COLUMNS, type EnvironmentRow, SqlReader, toEnvironment } from './reader.ts';
import { DELETED_MARK, parseTextList } from './rows.ts';
import { SqlScheduleWriter } from './schedule-table.ts';
import { StateWriter } from './state-writer.ts';

/** The writes of one operation, over one write transaction. What they did is noted in the journal. */
export class SqlTransaction extends SqlReader implements StoreTransaction {
  override readonly people: SqlPeopleWriter;
  override readonly schedules: SqlScheduleWriter;
  readonly #sql: WriteTransaction;
  readonly #journal: Journal;
  readonly #flags: FlagWriter;
  readonly #states: StateWriter;
  readonly #now: () => number;

  /** Writes through `sql` and notes deeds in `journal`; `now` gives epoch milliseconds. */
  constructor(sql: WriteTransaction, journal: Journal, now: () => number) {
    super(sql);
    this.#sql = sql;
    this.#journal = journal;
    this.people = new SqlPeopleWriter(sql, journal);
    this.schedules = new SqlScheduleWriter(sql, journal);
    this.#now = now;
    this.#flags = new FlagWriter(sql, journal);
    this.#states = new StateWriter(sql, journal, now);
  }

  async insertProject({ id, name, createdAt }: Project): Promise<void> {
    await this.#insert(
      `project "${name}"`,
      'INSERT INTO projects (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id',
      [id, name, createdAt],
    );
    const deed = { action: 'project.created', projectId: id, target: name, after: JSON.stringify({ name }) };
    this.#journal.change({ kind: 'project.created', projectId: id, payload: { name } }, [deed]);
  }

  async deleteProject({ id, name }: Project): Promise<void> {
    const environments = await this.#rows<{ id: string }>(
      'SELECT id FROM environments WHERE project_id = $1 AND deleted_at IS NULL',
      id,
    );
    // In order of ids, as everywhere, so that two operations never wait for each other.
    for (const environment of environments.map((row) => row.id).sort())
      await this.lockEnvironment(environment);
    for (const table of ['flag_states', 'environments', 'flags', 'project_keys', 'scheduled_changes']) {
      await this.#rows(`DELETE FROM ${table} WHERE project_id = $1`, id);
    }
    const deleted = await this.#rows('DELETE FROM projects WHERE id = $1 RETURNING id', id);
    if (deleted.length === 0) return;
    const deed = { action: 'project.deleted', projectId: id, target: name, before: JSON.stringify({ name }) };
    this.#journal.change({ kind: 'project.deleted', projectId: id, payload: {} }, [deed]);
  }

  async insertEnvironment(environment: Environment): Promise<Environment> {
    const { id, projectId, name, revision, color, position, createdAt } = environment;
    const appearance = [environment.protected ? 1 : 0, color, position, createdAt] as const;
    const stored = toEnvironment(
      (await this.#reviveEnvironment(projectId, name, appearance)) ??
        (await this.#insert<EnvironmentRow>(
          `environment "${name}"`,
          `INSERT INTO environments (id, project_id, name, revision, protected, color, position, created_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING ${ENVIRONMENT_COLUMNS}`,
          [id, projectId, name, revision, ...appearance],
        )),
    );
    const after = JSON.stringify({ name, revision: stored.revision, ...appearanceOf(stored) });
    const deed = { action: 'environment.created', projectId, environmentId: stored.id, target: name, after };
    const payload = { name, revision: stored.revision };
    this.#journal.change({ kind: 'environment.created', projectId, environmentId: stored.id, payload }, [
      deed,
    ]);
    return stored;
  }

  async deleteEnvironment({ id, projectId, name }: Environment): Promise<void> {
    const [deleted] = await this.#rows<{ revision: number }>(
      'UPDATE environments SET deleted_at = $1 WHERE id = $2 AND deleted_at IS NULL RETURNING revision',
      this.#now(),
      id,
    );
    if (deleted === undefined) return;
    await this.#rows('DELETE FROM flag_states WHERE environment_id = $1', id);
    await this.#takeOffKeys(projectId, name);
    this.#states.forget(id);
    const before = JSON.stringify({ name, revision: deleted.revision });
    const deed = { action: 'environment.deleted', projectId, environmentId: id, target: name, before };
    this.#journal.change({ kind: 'environment.deleted', projectId, environmentId: id, payload: {} }, [deed]);
  }

  async updateEnvironment(environment: Environment): Promise<void> {
    const { id, projectId, name, color, position } = environment;
    const known = await this.environment(projectId, name);
    if (known === undefined) return;
    const before = JSON.stringify(appearanceOf(known));
    const after = JSON.stringify(appearanceOf(environment));
    if (before === after) return;
    await this.#rows(
      'UPDATE environments SET protected = $2, color = $3, position = $4 WHERE id = $1',
      ...[id, environment.protected ? 1 : 0, color, position],
    );
    this.#states.forget(id);
    const deed = { action: 'environment.updated', projectId, environmentId: id, target: name };
    this.#journal.deed({ ...deed, before, after });
  }

  lockEnvironment(id: string): Promise<Environment | undefined> {
    return this.#states.lock(id);
  }

  async lockProject(id: string): Promise<void> {
    await this.#rows('UPDATE projects SET name = name WHERE id = $1', id);
  }

  async putFlag(flag: Flag): Promise<void> {
    const known = await this.flag(flag.projectId, flag.key);
    if (known === undefined) await this.#flags.insert([flag]);
    else await this.#flags.update(known, flag);
  }

  insertFlags(flags: readonly Flag[]): Promise<void> {
    return this.#flags.insert(flags);
  }

  async deleteFlag(flag: Flag): Promise<void> {
    const { projectId, key } = flag;
    const outcome = `The flag "${key}" was deleted.`;
    await this.schedules.cancelOf({ projectId, keys: [key] }, { at: this.#now(), outcome });
    await this.#flags.delete(flag, await this.archivedStates(flag));
  }

  archiveFlag(flag: Flag, archived: { readonly at: number; readonly states: ArchivedStates }): Promise<void> {
    return this.#flags.archive(flag, archived);
  }

  restoreFlag(flag: Flag): Promise<void> {
    return this.#flags.restore(flag);
  }

  recreateFlag(flag: Flag, states: ArchivedStates): Promise<void> {
    return this.#flags.recreate(flag, states);
  }

  async changeStates(
    environment: Environment,
    operations: readonly StateOperation[],
  ): Promise<StatesChanged> {
    const written = await this.#states.change(environment, operations);
    const changed = new Set(written.changed);
    const keys = operations.flatMap(([key, state]) => (state === null && changed.has(key) ? [key] : []));
    const { id: environmentId, projectId, name } = environment;
    const outcome = `A flag that it changes was removed from ${name}.`;
    await this.schedules.cancelOf({ projectId, environmentId, keys }, { at: this.#now(), outcome });
    return written;
  }

  async insertKey(key: ProjectKey, digest: string): Promise<void> {
    const { id, projectId, name, lastFour, environments, createdAt, expiresAt } = key;
    await this.#insert(
      `project key "${name}"`,
      `INSERT INTO project_keys (id, project_id, name, digest, last_four, environments, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`,
      [id, projectId, name, digest, lastFour, JSON.stringify(environments), createdAt, expiresAt ?? null],
    );
    const expiry = expiresAt === undefined ? {} : { expiresAt };
    const after = JSON.stringify({ name, lastFour, environments, ...expiry });
    const deed = { action: 'key.created', projectId, target: id, after };
    const payload = { id, digest, environments, ...expiry };
    this.#journal.change({ kind: 'key.created', projectId, payload }, [deed]);
  }

  async revokeKey({ id, projectId, name }: ProjectKey, at: number): Promise<void> {
    const [revoked] = await this.#rows<{ digest: string }>(
      'UPDATE project_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING digest',
      at,
      id,
    );
    if (revoked === undefined) return;
    const deed = { action: 'key.revoked', projectId, target: id, before: JSON.stringify({ name }) };
    const payload = { id, digest: revoked.digest };
    this.#journal.change({ kind: 'key.revoked', projectId, payload }, [deed]);
  }

  async insertAccessToken(token: AccessToken, digest: string): Promise<void> {
    const { id, name, role, canChangeProtected, createdAt, expiresAt } = token;
    await this.#insert(
      `access token "${name}"`,
      `INSERT INTO access_tokens (id, name, digest, role, can_change_protected, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING id`,
      [id, name, digest, role, canChangeProtected ? 1 : 0, createdAt, expiresAt ?? null],
    );
    const after = JSON.stringify({
      name,
      role,
      canChangeProtected,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });
    this.#journal.deed({ action: 'token.created', target: id, after });
  }

  async revokeAccessToken({ id, name }: AccessToken, at: number): Promise<void> {
    const text = 'UPDATE access_tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING id';
    if ((await this.#rows(text, at, id)).length === 0) return;
    this.#journal.deed({ action: 'token.revoked', target: id, before: JSON.stringify({ name }) });
  }

  /**
   * Keys were issued for this environment, not for a later one of its name. The mark in the name's place is a name that no
   * environment can have, so a key that opened nothing else stays a key: its readers get 404, as for any environment
   * that is not there.
   */
  async #takeOffKeys(projectId: string, name: string): Promise<void> {
    const keys = await this.#rows<{ id: string; environments: unknown }>(
      'SELECT id, environments FROM project_keys WHERE project_id = $1',
      projectId,
    );
    for (const { id, environments } of keys) {
      const names = parseTextList(environments);
      if (!names.includes(name)) continue;
      const left = names.map((other) => (other === name ? `${name}${DELETED_MARK}` : other));
      await this.#rows('UPDATE project_keys SET environments = $2 WHERE id = $1', id, JSON.stringify(left));
    }
  }

  /** A revived environment is empty where it was not before: that is a new revision of it. */
  async #reviveEnvironment(projectId: string, name: string, appearance: readonly Parameter[]) {
    const [revived] = await this.#rows<EnvironmentRow>(
      `UPDATE environments SET deleted_at = NULL, revision = revision + 1, protected = $3, color = $4,
        position = $5, created_at = $6
        WHERE project_id = $1 AND name = $2 AND deleted_at IS NOT NULL RETURNING ${ENVIRONMENT_COLUMNS}`,
      ...[projectId, name, ...appearance],
    );
    return revived;
  }

  /** Runs an INSERT that gives no row when something unique is taken. */
  async #insert<Row>(what: string, text: string, parameters: readonly Parameter[]): Promise<Row> {
    const [row] = await this.#sql.query<Row>(text, parameters);
    if (row !== undefined) return row;
    throw new ServiceError(
      'already_exists',
      `There is already ${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what}: choose another name.`,
    );
  }

  #rows<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]> {
    return this.#sql.query<Row>(text, parameters);
  }
}

function appearanceOf({ protected: isProtected, color, position }: Environment) {
  return { protected: isProtected, color, position };
}
