import { defined } from '@halyard/protocol';
import { ServiceError } from '../domain/errors.ts';
import type { Environment, Flag, StateOperation, StateText } from '../domain/project.ts';
import { RawJson, writeJson } from '../domain/raw-json.ts';
import type { ArchivedStates, StatesChanged } from '../domain/store.ts';
import type { WriteTransaction } from './database.ts';
import type { Journal, NewAuditEntry } from './journal.ts';
import { ENVIRONMENT_COLUMNS, type EnvironmentRow, SqlReader, toEnvironment } from './reader.ts';
import { chunks, insertRows, placeholders, writeArchivedStates } from './rows.ts';
import { SqlScheduleWriter } from './schedule-table.ts';

/** Flag keys that one statement names at most. */
const KEYS_PER_STATEMENT = 500;

/**
 * The writes of flags and of their states in one write transaction. Only states make a revision and a frame. Each write
 * is recorded in the journal.
 */
export class FlagTransaction extends SqlReader {
  override readonly schedules: SqlScheduleWriter;
  readonly #sql: WriteTransaction;
  readonly #journal: Journal;
  readonly #now: () => number;
  /** The environments that this transaction has locked, as they are now. */
  readonly #locked = new Map<string, Environment>();

  /** Writes through `sql` and records it in `journal`; `now` returns epoch milliseconds. */
  constructor(sql: WriteTransaction, journal: Journal, now: () => number) {
    super(sql);
    this.#sql = sql;
    this.#journal = journal;
    this.#now = now;
    this.schedules = new SqlScheduleWriter(sql, journal);
  }

  async lockEnvironment(id: string): Promise<Environment | undefined> {
    const known = this.#locked.get(id);
    if (known !== undefined) return known;
    // An UPDATE locks the row in either engine, and returns it as it is once the lock is held.
    const [row] = await this.#sql.query<EnvironmentRow>(
      `UPDATE environments SET revision = revision WHERE id = $1 AND deleted_at IS NULL
        RETURNING ${ENVIRONMENT_COLUMNS}`,
      [id],
    );
    if (row === undefined) return undefined;
    const environment = toEnvironment(row);
    this.#locked.set(id, environment);
    return environment;
  }

  /** Drops the record of a locked environment that this transaction has changed or deleted. */
  protected forgetEnvironment(id: string): void {
    this.#locked.delete(id);
  }

  async changeStates(
    environment: Environment,
    operations: readonly StateOperation[],
  ): Promise<StatesChanged> {
    const written = await this.#writeStates(environment, operations);
    const changed = new Set(written.changed);
    const keys = operations.flatMap(([key, state]) => (state === null && changed.has(key) ? [key] : []));
    const { id: environmentId, projectId, name } = environment;
    const outcome = `A flag that it changes was removed from ${name}.`;
    await this.schedules.cancelOf({ projectId, environmentId, keys }, { at: this.#now(), outcome });
    return written;
  }

  async #writeStates(
    { id, name }: Environment,
    operations: readonly StateOperation[],
  ): Promise<StatesChanged> {
    const environment = await this.lockEnvironment(id);
    if (environment === undefined) {
      throw new ServiceError('environment_not_found', `The environment "${name}" was deleted.`);
    }
    // The last of several operations on one flag counts.
    const wanted = new Map(operations);
    const current = await this.#currentStates(id, [...wanted.keys()]);
    const changed = [...wanted].filter(([key, state]) => (current.get(key) ?? null) !== state);
    if (changed.length === 0) return { revision: environment.revision, changed: [] };
    const revision = await this.#bump(environment);
    await this.#write({ ...environment, revision }, changed);
    this.#note({ ...environment, revision }, changed, current);
    return { revision, changed: changed.map(([key]) => key) };
  }

  async #currentStates(environmentId: string, keys: readonly string[]): Promise<Map<string, StateText>> {
    const states = new Map<string, StateText>();
    for (const some of chunks(keys, KEYS_PER_STATEMENT)) {
      const rows = await this.#sql.query<{ key: string; state: StateText }>(
        `SELECT flag_key AS key, state FROM flag_states
          WHERE environment_id = $1 AND flag_key IN (${placeholders(some.length, 1)})`,
        [environmentId, ...some],
      );
      for (const row of rows) states.set(row.key, row.state);
    }
    return states;
  }

  async #bump(environment: Environment): Promise<number> {
    const revision = environment.revision + 1;
    await this.#sql.query('UPDATE environments SET revision = $1 WHERE id = $2', [revision, environment.id]);
    this.#locked.set(environment.id, { ...environment, revision });
    return revision;
  }

  async #write(environment: Environment, changed: readonly StateOperation[]): Promise<void> {
    const { id, projectId, revision } = environment;
    const at = this.#now();
    await insertRows(this.#sql, {
      table: 'flag_states',
      columns: ['environment_id', 'flag_key', 'project_id', 'state', 'revision', 'updated_at', 'updated_by'],
      rows: changed.flatMap(([key, state]) =>
        state === null ? [] : [[id, key, projectId, state, revision, at, this.#journal.actor]],
      ),
      suffix: `ON CONFLICT (environment_id, flag_key) DO UPDATE
        SET state = excluded.state, revision = excluded.revision, updated_at = excluded.updated_at,
          updated_by = excluded.updated_by`,
    });
    const removed = changed.flatMap(([key, state]) => (state === null ? [key] : []));
    for (const keys of chunks(removed, KEYS_PER_STATEMENT)) {
      await this.#sql.query(
        `DELETE FROM flag_states WHERE environment_id = $1 AND flag_key IN (${placeholders(keys.length, 1)})`,
        [id, ...keys],
      );
    }
  }

  #note(environment: Environment, changed: readonly StateOperation[], before: Map<string, StateText>): void {
    const { id, projectId, revision } = environment;
    const entries = changed.map(([key, state]): NewAuditEntry => {
      const old = before.get(key);
      const texts = defined({ before: old, after: state ?? undefined });
      return { action: 'flag.changed', projectId, environmentId: id, target: key, ...texts };
    });
    this.#journal.change(
      { kind: 'flags.changed', projectId, environmentId: id, revision, payload: changed },
      entries,
    );
  }

  async putFlag(flag: Flag): Promise<void> {
    const known = await this.flag(flag.projectId, flag.key);
    if (known === undefined) await this.insertFlags([flag]);
    else await this.#updateFlag(known, flag);
  }

  async insertFlags(flags: readonly Flag[]): Promise<void> {
    await this.#insertRows(flags);
    for (const flag of flags) {
      const { projectId, key } = flag;
      this.#journal.audit({ action: 'flag.created', projectId, target: key, after: flagText(flag) });
    }
  }

  /** The audit log keeps all that is needed to create the flag again. */
  async deleteFlag(flag: Flag): Promise<void> {
    const { projectId, key } = flag;
    const outcome = `The flag "${key}" was deleted.`;
    await this.schedules.cancelOf({ projectId, keys: [key] }, { at: this.#now(), outcome });
    const before = wholeFlagText(flag, await this.archivedStates(flag));
    const text = 'DELETE FROM flags WHERE project_id = $1 AND key = $2 RETURNING key';
    if ((await this.#sql.query(text, [projectId, key])).length === 0) return;
    this.#journal.audit({ action: 'flag.deleted', projectId, target: key, before });
  }

  async recreateFlag(flag: Flag, states: ArchivedStates): Promise<void> {
    const { projectId, key, archivedAt } = flag;
    await this.#insertRows([flag]);
    if (archivedAt !== undefined) await this.#setArchived(flag, { at: archivedAt, states });
    const after = wholeFlagText(flag, states);
    this.#journal.audit({ action: 'flag.recreated', projectId, target: key, after });
  }

  async archiveFlag(
    flag: Flag,
    archived: { readonly at: number; readonly states: ArchivedStates },
  ): Promise<void> {
    await this.#setArchived(flag, archived);
    this.#journal.audit({ action: 'flag.archived', projectId: flag.projectId, target: flag.key });
  }

  async restoreFlag(flag: Flag): Promise<void> {
    await this.#setArchived(flag, undefined);
    this.#journal.audit({ action: 'flag.restored', projectId: flag.projectId, target: flag.key });
  }

  /** Replaces the texts of `known` by those of `flag`. */
  async #updateFlag(known: Flag, flag: Flag): Promise<void> {
    const { projectId, key, description, tags, owner } = flag;
    const before = flagText(known);
    const after = flagText(flag);
    if (before === after) return;
    await this.#sql.query(
      'UPDATE flags SET description = $3, tags = $4, owner = $5 WHERE project_id = $1 AND key = $2',
      [projectId, key, description, JSON.stringify(tags), owner],
    );
    this.#journal.audit({ action: 'flag.updated', projectId, target: key, before, after });
  }

  async #insertRows(flags: readonly Flag[]): Promise<void> {
    // No ON CONFLICT: when another writer was first, the work must run again and see what that one wrote.
    await insertRows(this.#sql, {
      table: 'flags',
      columns: ['project_id', 'key', 'description', 'tags', 'owner', 'created_at'],
      rows: flags.map(({ projectId, key, description, tags, owner, createdAt }) => [
        ...[projectId, key, description, JSON.stringify(tags), owner, createdAt],
      ]),
    });
  }

  async #setArchived(
    { projectId, key }: Flag,
    archived: { readonly at: number; readonly states: ArchivedStates } | undefined,
  ): Promise<void> {
    const states = archived === undefined ? null : writeArchivedStates(archived.states);
    await this.#sql.query(
      'UPDATE flags SET archived_at = $3, archived_states = $4 WHERE project_id = $1 AND key = $2',
      [projectId, key, archived?.at ?? null, states],
    );
  }
}

function flagText({ description, tags, owner }: Flag): string {
  return JSON.stringify({ description, tags, owner });
}

function wholeFlagText({ description, tags, owner, createdAt, archivedAt }: Flag, states: ArchivedStates) {
  return writeJson({
    ...{ description, tags, owner, createdAt, archivedAt },
    ...(archivedAt === undefined ? {} : { archivedStates: new RawJson(writeArchivedStates(states)) }),
  });
}
