import { defined } from '@halyard/protocol';
import { ServiceError } from '../domain/errors.ts';
import {
  DELETED_MARK,
  type Environment,
  type Flag,
  type FlagDetails,
  type Project,
  type ProjectKey,
} from '../domain/project.ts';
import { RawJson, writeJson } from '../domain/raw-json.ts';
import type { ArchivedStates } from '../domain/store.ts';
import { HOUR_MS } from '../domain/usage.ts';
import type { Parameter, WriteTransaction } from './database.ts';
import type { Journal, NewAuditEntry } from './journal.ts';
import { ENVIRONMENT_COLUMNS, type EnvironmentRow, SqlReader, toEnvironment } from './reader.ts';
import { removeProjectRoles } from './rights.ts';
import { type Insert, insertRows, parseArchivedStates, parseTextList, writeArchivedStates } from './rows.ts';

/**
 * The writes of projects, environments, flags and keys in one write transaction, each recorded in the journal.
 * Its subclass `SqlTransaction` adds the locks.
 */
export abstract class RecordWriter extends SqlReader {
  readonly #sql: WriteTransaction;
  readonly #journal: Journal;
  readonly #now: () => number;

  /** Writes through `sql` and records it in `journal`; `now` returns epoch milliseconds. */
  constructor(sql: WriteTransaction, journal: Journal, now: () => number) {
    super(sql);
    this.#sql = sql;
    this.#journal = journal;
    this.#now = now;
  }

  abstract lockPeople(): Promise<void>;

  abstract lockEnvironment(id: string): Promise<Environment | undefined>;

  /** Drops the record of a locked environment that this transaction has changed or deleted. */
  protected abstract forgetEnvironment(id: string): void;

  async insertProject({ id, name, createdAt }: Project): Promise<void> {
    await this.#insert(
      `project "${name}"`,
      'INSERT INTO projects (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id',
      [id, name, createdAt],
    );
    const entry = { action: 'project.created', projectId: id, target: name, after: JSON.stringify({ name }) };
    this.#journal.change({ kind: 'project.created', projectId: id, payload: { name } }, [entry]);
  }

  async setUsage({ id, name, usageSince }: Project, since: number | undefined): Promise<void> {
    if ((usageSince === undefined) === (since === undefined)) return;
    await this.#rows('UPDATE projects SET usage_since = $2 WHERE id = $1', id, since ?? null);
    const usage = since !== undefined;
    const entry = {
      action: 'project.updated',
      projectId: id,
      target: name,
      before: JSON.stringify({ usage: !usage }),
      after: JSON.stringify({ usage }),
    };
    this.#journal.change({ kind: 'project.updated', projectId: id, payload: { usage } }, [entry]);
  }

  async deleteProject({ id, name }: Project): Promise<void> {
    const environments = await this.#rows<{ id: string }>(
      'SELECT id FROM environments WHERE project_id = $1 AND deleted_at IS NULL',
      id,
    );
    // In order of ids, as everywhere, so that two operations never wait for each other.
    for (const environment of environments.map((row) => row.id).sort())
      await this.lockEnvironment(environment);
    await this.#rows(
      'DELETE FROM flag_last_reads WHERE environment_id IN (SELECT id FROM environments WHERE project_id = $1)',
      id,
    );
    for (const table of TABLES_OF_PROJECT) await this.#rows(`DELETE FROM ${table} WHERE project_id = $1`, id);
    const deleted = await this.#rows('DELETE FROM projects WHERE id = $1 RETURNING id', id);
    if (deleted.length === 0) return;
    // Tokens and people are locked last, as by every other operation, so that none waits for another in a circle.
    await this.lockPeople();
    await removeProjectRoles(this.#sql, id);
    const entry = {
      action: 'project.deleted',
      projectId: id,
      target: name,
      before: JSON.stringify({ name }),
    };
    this.#journal.change({ kind: 'project.deleted', projectId: id, payload: {} }, [entry]);
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
    const entry = { action: 'environment.created', projectId, environmentId: stored.id, target: name, after };
    const payload = { name, revision: stored.revision };
    this.#journal.change({ kind: 'environment.created', projectId, environmentId: stored.id, payload }, [
      entry,
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
    for (const table of ['flag_states', 'flag_last_reads'])
      await this.#rows(`DELETE FROM ${table} WHERE environment_id = $1`, id);
    await this.#removeFromKeys(projectId, name);
    this.forgetEnvironment(id);
    const before = JSON.stringify({ name, revision: deleted.revision });
    const entry = { action: 'environment.deleted', projectId, environmentId: id, target: name, before };
    this.#journal.change({ kind: 'environment.deleted', projectId, environmentId: id, payload: {} }, [entry]);
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
    this.forgetEnvironment(id);
    const entry = { action: 'environment.updated', projectId, environmentId: id, target: name };
    this.#journal.audit({ ...entry, before, after });
  }

  async lockProject(id: string): Promise<void> {
    await this.#rows('UPDATE projects SET name = name WHERE id = $1', id);
  }

  async insertKey(key: ProjectKey, digest: string): Promise<void> {
    const { id, projectId, name, lastFour, environments, createdAt, expiresAt } = key;
    await this.#insert(
      `project key "${name}"`,
      `INSERT INTO project_keys (id, project_id, name, digest, last_four, environments, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`,
      [id, projectId, name, digest, lastFour, JSON.stringify(environments), createdAt, expiresAt ?? null],
    );
    const after = JSON.stringify({ name, lastFour, environments, expiresAt });
    const entry = { action: 'key.created', projectId, target: id, after };
    const payload = defined({ id, digest, environments, expiresAt });
    this.#journal.change({ kind: 'key.created', projectId, payload }, [entry]);
  }

  async revokeKey({ id, projectId, name }: ProjectKey, at: number): Promise<void> {
    const [revoked] = await this.#rows<{ digest: string }>(
      'UPDATE project_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING digest',
      at,
      id,
    );
    if (revoked === undefined) return;
    const entry = { action: 'key.revoked', projectId, target: id, before: JSON.stringify({ name }) };
    const payload = { id, digest: revoked.digest };
    this.#journal.change({ kind: 'key.revoked', projectId, payload }, [entry]);
  }

  async putFlag(flag: Flag): Promise<void> {
    const known = await this.flag(flag.projectId, flag.key);
    if (known === undefined) await this.insertFlags([flag]);
    else await this.#updateFlag(known, flag);
  }

  async insertFlags(flags: readonly Flag[]): Promise<void> {
    await this.#insertFlags(flags);
    for (const flag of flags) this.#journal.audit(flagCreated(flag));
  }

  /** The audit log keeps all that is needed to create the flag again. */
  async deleteFlag(flag: Flag): Promise<void> {
    const { projectId, key } = flag;
    const before = wholeFlagText(flag, await this.archivedStates(flag));
    const text = 'DELETE FROM flags WHERE project_id = $1 AND key = $2 RETURNING key';
    if ((await this.#sql.query(text, [projectId, key])).length === 0) return;
    for (const table of ['flag_last_reads', 'rollout_plans'])
      await this.#rows(
        `DELETE FROM ${table} WHERE flag_key = $2
          AND environment_id IN (SELECT id FROM environments WHERE project_id = $1)`,
        ...[projectId, key],
      );
    this.#journal.audit({ action: 'flag.deleted', projectId, target: key, before });
  }

  async recreateFlag(flag: Flag, states: ArchivedStates): Promise<void> {
    const { projectId, key, archivedAt } = flag;
    await this.#insertFlags([flag]);
    if (archivedAt !== undefined) await this.#setArchived(flag, { at: archivedAt, states });
    const after = wholeFlagText(flag, states);
    this.#journal.audit({ action: 'flag.recreated', projectId, target: key, after });
  }

  async insertArchivedFlag(
    flag: Flag & { readonly archivedAt: number },
    states: ArchivedStates,
  ): Promise<void> {
    await this.#insertFlags([flag]);
    await this.#setArchived(flag, { at: flag.archivedAt, states });
    const { projectId, key } = flag;
    this.#journal.audit({
      action: 'flag.created',
      projectId,
      target: key,
      after: wholeFlagText(flag, states),
    });
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

  /**
   * Keys were issued for this environment, not for a later one with its name. The name is marked, not removed, so that a
   * key without other environments stays valid: its readers get 404, as for any environment that does not exist.
   */
  async #removeFromKeys(projectId: string, name: string): Promise<void> {
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

  /** A revived environment has lost its flags, which is a new revision. */
  async #reviveEnvironment(projectId: string, name: string, appearance: readonly Parameter[]) {
    const [revived] = await this.#rows<EnvironmentRow>(
      `UPDATE environments SET deleted_at = NULL, revision = revision + 1, protected = $3, color = $4,
        position = $5, created_at = $6
        WHERE project_id = $1 AND name = $2 AND deleted_at IS NOT NULL RETURNING ${ENVIRONMENT_COLUMNS}`,
      ...[projectId, name, ...appearance],
    );
    if (revived !== undefined) await this.#forgetEarlier(revived);
    return revived;
  }

  /** Removes what the environment that had this id before has left: kept states of archived flags, and reads. */
  async #forgetEarlier({ id, projectId }: EnvironmentRow): Promise<void> {
    const flags = await this.#rows<{ key: string; states: string }>(
      `SELECT key, archived_states AS states FROM flags
        WHERE project_id = $1 AND archived_states LIKE $2 ORDER BY key`,
      ...[projectId, `%${id}%`],
    );
    for (const { key, states } of flags) {
      const kept = new Map(parseArchivedStates(states));
      if (!kept.delete(id)) continue;
      await this.#rows(
        'UPDATE flags SET archived_states = $3 WHERE project_id = $1 AND key = $2',
        ...[projectId, key, writeArchivedStates(kept)],
      );
    }

    await this.#rows('DELETE FROM flag_last_reads WHERE environment_id = $1', id);
    // Earlier hours are not read; the expression keeps SQLite from looking through them.
    await this.#rows(
      `DELETE FROM flag_usage WHERE hour > $2 AND environment_id || '' = $1`,
      ...[id, this.#now() - HOUR_MS],
    );
  }

  /** Runs an INSERT that returns no row when something unique is taken. */
  async #insert<Row>(what: string, text: string, parameters: readonly Parameter[]): Promise<Row> {
    const [row] = await this.#sql.query<Row>(text, parameters);
    if (row !== undefined) return row;
    throw new ServiceError('already_exists', `The ${what} already exists: choose another name.`);
  }

  #rows<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]> {
    return this.#sql.query<Row>(text, parameters);
  }

  /** Replaces the details of `known` by those of `flag`. */
  async #updateFlag(known: Flag, flag: Flag): Promise<void> {
    const { projectId, key, description, tags, owner, permanent, valueKind } = flag;
    const before = detailsText(known);
    const after = detailsText(flag);
    if (before === after) return;
    await this.#sql.query(
      `UPDATE flags SET description = $3, tags = $4, owner = $5, permanent = $6, value_kind = $7
        WHERE project_id = $1 AND key = $2`,
      [projectId, key, description, JSON.stringify(tags), owner, permanent ? 1 : 0, valueKind],
    );
    this.#journal.audit({ action: 'flag.updated', projectId, target: key, before, after });
  }

  async #insertFlags(flags: readonly Flag[]): Promise<void> {
    // In one order, as groups of state writers insert theirs, so that none waits for the other.
    const sorted = flags.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    await insertRows(this.#sql, { ...FLAG_INSERT, rows: sorted.map(newFlagRow) });
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

/** The tables whose rows belong to a project, referencing ones first. The schema removes webhooks with their project. */
const TABLES_OF_PROJECT = [
  'flag_states',
  'environments',
  'flags',
  'project_keys',
  'scheduled_changes',
  'rollout_plans',
] as const;

function appearanceOf({ protected: isProtected, color, position }: Environment) {
  return { protected: isProtected, color, position };
}

/** New flags. No ON CONFLICT: when another writer was first, the work must run again and see what that one wrote. */
export const FLAG_INSERT: Insert = {
  table: 'flags',
  columns: ['project_id', 'key', 'description', 'tags', 'owner', 'permanent', 'value_kind', 'created_at'],
};

/** The row of a new flag for {@link FLAG_INSERT}. */
export function newFlagRow(flag: Flag): Parameter[] {
  const { projectId, key, description, tags, owner, permanent, valueKind, createdAt } = flag;
  return [projectId, key, description, JSON.stringify(tags), owner, permanent ? 1 : 0, valueKind, createdAt];
}

/** The audit entry of a new flag. */
export function flagCreated(flag: FlagDetails & Pick<Flag, 'projectId' | 'key'>): NewAuditEntry {
  return { action: 'flag.created', projectId: flag.projectId, target: flag.key, after: detailsText(flag) };
}

function detailsText({ description, tags, owner, permanent, valueKind }: FlagDetails): string {
  return JSON.stringify({ description, tags, owner, permanent, valueKind });
}

function wholeFlagText(flag: Flag, states: ArchivedStates): string {
  const { description, tags, owner, permanent, valueKind, createdAt, archivedAt } = flag;
  return writeJson({
    description,
    tags,
    owner,
    permanent,
    valueKind,
    createdAt,
    archivedAt,
    ...(archivedAt === undefined ? {} : { archivedStates: new RawJson(writeArchivedStates(states)) }),
  });
}
