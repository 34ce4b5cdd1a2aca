import { defined } from '@halyard/protocol';
import { ServiceError } from '../domain/errors.ts';
import type { Environment, StateOperation, StateText } from '../domain/project.ts';
import type { StatesChanged, StoreTransaction } from '../domain/store.ts';
import type { AuthorCheck } from './author-check.ts';
import type { WriteTransaction } from './database.ts';
import type { Journal, NewAuditEntry } from './journal.ts';
import { ENVIRONMENT_COLUMNS, type EnvironmentRow, KEYS_PER_STATEMENT, toEnvironment } from './reader.ts';
import { RecordWriter } from './record-writer.ts';
import { chunks, type Insert, insertRows, placeholders } from './rows.ts';

/** States of flags, new or not. */
export const STATE_INSERT: Insert = {
  table: 'flag_states',
  columns: ['environment_id', 'flag_key', 'project_id', 'state', 'revision', 'updated_at', 'updated_by'],
  suffix: `ON CONFLICT (environment_id, flag_key) DO UPDATE
    SET state = excluded.state, revision = excluded.revision, updated_at = excluded.updated_at,
      updated_by = excluded.updated_by`,
};

/**
 * All writes of one operation in one write transaction, each recorded in the journal. This class has the locks and the
 * states of flags; `RecordWriter`, which it extends, has the other records.
 */
export class SqlTransaction extends RecordWriter implements StoreTransaction {
  readonly #sql: WriteTransaction;
  readonly journal: Journal;
  readonly #author: AuthorCheck;
  readonly #now: () => number;
  /** The environments that this transaction has locked, as they are now. */
  readonly #locked = new Map<string, Environment>();

  /** Writes through `sql` and records it in `journal`; `now` returns epoch milliseconds. */
  constructor(
    sql: WriteTransaction,
    {
      journal,
      author,
      now,
    }: { readonly journal: Journal; readonly author: AuthorCheck; readonly now: () => number },
  ) {
    super(sql, journal, now);
    this.#sql = sql;
    this.journal = journal;
    this.#now = now;
    this.#author = author;
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

  protected forgetEnvironment(id: string): void {
    this.#locked.delete(id);
  }

  /** The end of the log is the lock; people change seldom enough to wait for it from the beginning. */
  lockPeople(): Promise<void> {
    return this.#author.lock(this.#sql);
  }

  now(): number {
    return this.#now();
  }

  async storeStates(
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
    const rows = changed.flatMap(([key, state]) =>
      state === null ? [] : [[id, key, projectId, state, revision, at, this.journal.actor]],
    );
    await insertRows(this.#sql, { ...STATE_INSERT, rows });
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
    this.journal.change(
      { kind: 'flags.changed', projectId, environmentId: id, revision, payload: changed },
      entries,
    );
  }
}
