import type { Flag } from '../domain/project.ts';
import { RawJson, writeJson } from '../domain/raw-json.ts';
import type { ArchivedStates } from '../domain/store.ts';
import type { WriteTransaction } from './database.ts';
import type { Journal } from './journal.ts';
import { insertRows, writeArchivedStates } from './rows.ts';

/** Writes flags at project level within one transaction. None of it makes a revision or a frame. */
export class FlagWriter {
  readonly #sql: WriteTransaction;
  readonly #journal: Journal;

  /** Writes through `sql` and notes deeds in `journal`. */
  constructor(sql: WriteTransaction, journal: Journal) {
    this.#sql = sql;
    this.#journal = journal;
  }

  /** Inserts flags that the project has none of, many in each statement. */
  async insert(flags: readonly Flag[]): Promise<void> {
    await this.#insertRows(flags);
    for (const flag of flags) {
      const { projectId, key } = flag;
      this.#journal.deed({ action: 'flag.created', projectId, target: key, after: flagText(flag) });
    }
  }

  /** Replaces the texts of `known` by those of `flag`. */
  async update(known: Flag, flag: Flag): Promise<void> {
    const { projectId, key, description, tags, owner } = flag;
    const before = flagText(known);
    const after = flagText(flag);
    if (before === after) return;
    await this.#sql.query(
      'UPDATE flags SET description = $3, tags = $4, owner = $5 WHERE project_id = $1 AND key = $2',
      [projectId, key, description, JSON.stringify(tags), owner],
    );
    this.#journal.deed({ action: 'flag.updated', projectId, target: key, before, after });
  }

  /** Removes the flag. The audit log keeps all that is needed to bring it back; `states` are those it was archived with. */
  async delete(flag: Flag, states: ArchivedStates): Promise<void> {
    const { projectId, key } = flag;
    const text = 'DELETE FROM flags WHERE project_id = $1 AND key = $2 RETURNING key';
    if ((await this.#sql.query(text, [projectId, key])).length === 0) return;
    this.#journal.deed({
      action: 'flag.deleted',
      projectId,
      target: key,
      before: wholeFlagText(flag, states),
    });
  }

  /** Inserts a flag as it was when {@link delete} removed it. */
  async recreate(flag: Flag, states: ArchivedStates): Promise<void> {
    const { projectId, key, archivedAt } = flag;
    await this.#insertRows([flag]);
    if (archivedAt !== undefined) await this.#setArchived(flag, { at: archivedAt, states });
    const after = wholeFlagText(flag, states);
    this.#journal.deed({ action: 'flag.recreated', projectId, target: key, after });
  }

  /** Marks the flag as archived and keeps what its states were. */
  async archive(
    flag: Flag,
    archived: { readonly at: number; readonly states: ArchivedStates },
  ): Promise<void> {
    await this.#setArchived(flag, archived);
    this.#journal.deed({ action: 'flag.archived', projectId: flag.projectId, target: flag.key });
  }

  /** Ends the archiving of the flag. */
  async restore(flag: Flag): Promise<void> {
    await this.#setArchived(flag, undefined);
    this.#journal.deed({ action: 'flag.restored', projectId: flag.projectId, target: flag.key });
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
