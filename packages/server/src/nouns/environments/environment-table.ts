import { HOUR_MS } from '../../domain/clock.ts';
import { DELETED_MARK, type Environment } from '../../domain/project.ts';
import type { Parameter, Queryable, Statement } from '../../storage/database.ts';
import { type EnvironmentNames, IS_NAMED_ENVIRONMENT } from '../../storage/places.ts';
import {
  byText,
  insertNew,
  parseArchivedStates,
  parseTextList,
  writeArchivedStates,
} from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';

/** The columns of an {@link EnvironmentRow}. */
const COLUMNS = `id, project_id AS "projectId", name, revision, protected, approvals,
  emergency_off AS "emergencyOff", reason_required AS "reasonRequired", color, position, created_at AS "createdAt"`;

/** An environment as its row has it: the engines have no booleans in common. */
export type EnvironmentRow = Omit<Environment, Switch> & Readonly<Record<Switch, number>>;
type Switch = 'protected' | 'emergencyOff' | 'reasonRequired';

/** The record of a row. */
export function toEnvironment(row: EnvironmentRow): Environment {
  return {
    ...row,
    protected: row.protected !== 0,
    emergencyOff: row.emergencyOff !== 0,
    reasonRequired: row.reasonRequired !== 0,
  };
}

/** The environments of a project, by position and name. */
export async function readEnvironments(db: Queryable, projectId: string): Promise<readonly Environment[]> {
  const rows = await db.query<EnvironmentRow>(
    `SELECT ${COLUMNS} FROM environments WHERE project_id = $1 AND deleted_at IS NULL`,
    [projectId],
  );
  return byText(rows.map(toEnvironment), ({ name }) => name).sort((a, b) => a.position - b.position);
}

/** The environment of that name. */
export async function readEnvironment(
  db: Queryable,
  projectId: string,
  name: string,
): Promise<Environment | undefined> {
  const [row] = await db.query<EnvironmentRow>(
    `SELECT ${COLUMNS} FROM environments WHERE project_id = $1 AND name = $2 AND deleted_at IS NULL`,
    [projectId, name],
  );
  return row && toEnvironment(row);
}

// An UPDATE locks the row in either engine, and returns it as it is once the lock is held.
const LOCK = 'UPDATE environments SET revision = revision WHERE';

/**
 * Locks the environment until commit and returns its current record, so that later reads stay true.
 * Several environments are locked in order of their ids. `undefined` when it does not exist.
 */
export async function lockEnvironment(tx: Tx, id: string): Promise<Environment | undefined> {
  const known = tx.locked.get(id);
  if (known !== undefined) return known;

  const [row] = await tx.query<EnvironmentRow>(
    `${LOCK} id = $1 AND deleted_at IS NULL RETURNING ${COLUMNS}`,
    [id],
  );
  if (row === undefined) return undefined;

  const environment = toEnvironment(row);
  tx.locked.set(id, environment);
  return environment;
}

/** As {@link lockEnvironment}, by name: the statement returns an {@link EnvironmentRow}. */
export function lockingEnvironment({ project, environment }: EnvironmentNames): Statement {
  return {
    text: `${LOCK} ${IS_NAMED_ENVIRONMENT} RETURNING ${COLUMNS}`,
    parameters: [project, environment],
  };
}

/**
 * Inserts the environment, or revives a deleted one of that name with its old id and the next revision. Returns the
 * stored one. `already_exists` when the project has one of that name.
 */
export async function insertEnvironment(tx: Tx, environment: Environment): Promise<Environment> {
  const { id, projectId, name, revision, color, position, createdAt } = environment;
  const appearance = [environment.protected ? 1 : 0, color, position, createdAt] as const;

  const stored = toEnvironment(
    (await revive(tx, projectId, name, appearance)) ??
      (await insertNew<EnvironmentRow>(
        tx,
        `environment "${name}"`,
        `INSERT INTO environments (id, project_id, name, revision, protected, color, position, created_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
        [id, projectId, name, revision, ...appearance],
      )),
  );

  const after = JSON.stringify({ name, revision: stored.revision, ...appearanceOf(stored) });
  const place = { projectId, environmentId: stored.id };
  const payload = { name, revision: stored.revision };
  tx.journal.change({ kind: 'environment.created', ...place, payload }, [
    { action: 'environment.created', ...place, target: name, after },
  ]);
  return stored;
}

/** A revived environment has lost its flags, which is a new revision. */
async function revive(tx: Tx, projectId: string, name: string, appearance: readonly Parameter[]) {
  const [revived] = await tx.query<EnvironmentRow>(
    `UPDATE environments SET deleted_at = NULL, revision = revision + 1, guarded = revision + 1, protected = $3, color = $4,
      position = $5, created_at = $6
      WHERE project_id = $1 AND name = $2 AND deleted_at IS NOT NULL RETURNING ${COLUMNS}`,
    [projectId, name, ...appearance],
  );
  if (revived !== undefined) await forgetEarlier(tx, revived);
  return revived;
}

/** Removes what the environment that had this id before has left: kept states of archived flags, and reads. */
async function forgetEarlier(tx: Tx, { id, projectId }: EnvironmentRow): Promise<void> {
  const flags = await tx.query<{ key: string; states: string }>(
    `SELECT key, archived_states AS states FROM flags
      WHERE project_id = $1 AND archived_states LIKE $2 ORDER BY key`,
    [projectId, `%${id}%`],
  );
  for (const { key, states } of flags) {
    const kept = new Map(parseArchivedStates(states));
    if (!kept.delete(id)) continue;
    await tx.query('UPDATE flags SET archived_states = $3 WHERE project_id = $1 AND key = $2', [
      projectId,
      key,
      writeArchivedStates(kept),
    ]);
  }

  await tx.query('DELETE FROM flag_last_reads WHERE environment_id = $1', [id]);
  // Earlier hours are not read; the expression keeps SQLite from looking through them.
  await tx.query(`DELETE FROM flag_usage WHERE hour > $2 AND environment_id || '' = $1`, [
    id,
    tx.now() - HOUR_MS,
  ]);
}

/** Replaces the appearance and the guards of the environment. No revision, no frame. */
export async function storeAppearance(tx: Tx, environment: Environment): Promise<void> {
  const { id, projectId, name, color, position, emergencyOff, reasonRequired } = environment;
  const isProtected = environment.protected;
  // Without protection there is nothing to approve.
  const approvals = isProtected ? environment.approvals : 0;
  const known = await readEnvironment(tx, projectId, name);
  if (known === undefined) return;
  const before = JSON.stringify(appearanceOf(known));
  const after = JSON.stringify(appearanceOf({ ...environment, approvals }));
  if (before === after) return;

  await tx.query(
    `UPDATE environments SET protected = $2, color = $3, position = $4, approvals = $5, emergency_off = $6,
      reason_required = $7, guarded = revision WHERE id = $1`,
    [id, Number(isProtected), color, position, approvals, Number(emergencyOff), Number(reasonRequired)],
  );
  tx.locked.delete(id);

  tx.journal.audit({
    action: 'environment.updated',
    projectId,
    environmentId: id,
    target: name,
    before,
    after,
  });
}

/** As the audit log has it: guards that still have their default are left out. */
function appearanceOf(environment: Environment) {
  const { protected: isProtected, color, position, approvals, emergencyOff, reasonRequired } = environment;
  return {
    protected: isProtected,
    color,
    position,
    ...(approvals > 0 && { approvals }),
    ...(!emergencyOff && { emergencyOff }),
    ...(reasonRequired && { reasonRequired }),
  };
}

/** Removes the environment with its states; the name may be used again. */
export async function removeEnvironment(tx: Tx, { id, projectId, name }: Environment): Promise<void> {
  const [deleted] = await tx.query<{ revision: number }>(
    `UPDATE environments SET deleted_at = $1, approvals = 0, reason_required = 0
      WHERE id = $2 AND deleted_at IS NULL RETURNING revision`,
    [tx.now(), id],
  );
  if (deleted === undefined) return;

  for (const table of ['flag_states', 'flag_last_reads'])
    await tx.query(`DELETE FROM ${table} WHERE environment_id = $1`, [id]);
  await markDeletedInKeys(tx, projectId, name);
  tx.locked.delete(id);

  const place = { projectId, environmentId: id };
  tx.journal.change({ kind: 'environment.deleted', ...place, payload: {} }, [
    {
      action: 'environment.deleted',
      ...place,
      target: name,
      before: JSON.stringify({ name, revision: deleted.revision }),
    },
  ]);
}

/**
 * Keys were issued for this environment, not for a later one with its name. The name is marked, not removed, so that a
 * key without other environments stays valid: its readers get 404, as for any environment that does not exist.
 */
async function markDeletedInKeys(tx: Tx, projectId: string, name: string): Promise<void> {
  const keys = await tx.query<{ id: string; environments: unknown }>(
    'SELECT id, environments FROM project_keys WHERE project_id = $1',
    [projectId],
  );
  for (const { id, environments } of keys) {
    const names = parseTextList(environments);
    if (!names.includes(name)) continue;
    const left = names.map((other) => (other === name ? `${name}${DELETED_MARK}` : other));
    await tx.query('UPDATE project_keys SET environments = $2 WHERE id = $1', [id, JSON.stringify(left)]);
  }
}
