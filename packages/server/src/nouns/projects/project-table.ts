import type { Project } from '../../domain/project.ts';
import type { Queryable, Statement } from '../../storage/database.ts';
import { removeProjectRoles } from '../../storage/rights.ts';
import { byText, insertNew, type NullableColumns, withoutNulls } from '../../storage/rows.ts';
import type { Tx, UnloggedTx } from '../../storage/tx.ts';

const SELECT = 'SELECT id, name, created_at AS "createdAt", usage_since AS "usageSince" FROM projects';

type ProjectRow = NullableColumns<Project>;

/** All projects, by name. */
export async function readProjects(db: Queryable): Promise<readonly Project[]> {
  const rows = await db.query<ProjectRow>(SELECT);
  return byText(rows.map(withoutNulls<Project>), ({ name }) => name);
}

/** The project of that name. */
export async function readProject(db: Queryable, name: string): Promise<Project | undefined> {
  const [row] = await db.query<ProjectRow>(`${SELECT} WHERE name = $1`, [name]);
  return row && withoutNulls<Project>(row);
}

/** Reads the id of a project. */
export function selectProject(name: string): Statement {
  return { text: 'SELECT id FROM projects WHERE name = $1', parameters: [name] };
}

/**
 * Locks the project until commit; before its environments, so that two operations never wait for each other. Needed to
 * add an environment, and to change what all environments of the project must agree on.
 */
export async function lockProject(tx: UnloggedTx, id: string): Promise<void> {
  await tx.query('UPDATE projects SET name = name WHERE id = $1', [id]);
}

/** Inserts a project. `already_exists` when there is one of that name. */
export async function insertProject(tx: Tx, { id, name, createdAt }: Project): Promise<void> {
  await insertNew(
    tx,
    `project "${name}"`,
    'INSERT INTO projects (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id',
    [id, name, createdAt],
  );
  tx.journal.change({ kind: 'project.created', projectId: id, payload: { name } }, [
    { action: 'project.created', projectId: id, target: name, after: JSON.stringify({ name }) },
  ]);
}

/**
 * Announces that records of the project change, with a row of its own. For an operation that may change states as well: from
 * rows of states alone no dashboard would learn of another record.
 */
export function announceRecords({ journal }: Tx, projectId: string): void {
  const payload = {
    // Read at the end, when the row is written: all that the operation does.
    get actions() {
      return [...new Set(journal.entries.map(({ action }) => action))];
    },
  };
  journal.change({ kind: 'records.changed', projectId, payload }, []);
}

/** Asks the clients of the project to report reads, since that time (epoch milliseconds), or no longer does. */
export async function storeUsage(
  tx: Tx,
  { id, name, usageSince }: Project,
  since: number | undefined,
): Promise<void> {
  if ((usageSince === undefined) === (since === undefined)) return;
  await tx.query('UPDATE projects SET usage_since = $2 WHERE id = $1', [id, since ?? null]);

  const usage = since !== undefined;
  tx.journal.change({ kind: 'project.updated', projectId: id, payload: { usage } }, [
    {
      action: 'project.updated',
      projectId: id,
      target: name,
      before: JSON.stringify({ usage: !usage }),
      after: JSON.stringify({ usage }),
    },
  ]);
}

/** The tables whose rows belong to a project, referencing ones first. The schema removes webhooks and reports about code. */
const TABLES_OF_PROJECT = [
  'flag_states',
  'environments',
  'flags',
  'project_keys',
  'scheduled_changes',
  'rollout_plans',
  'proposals',
] as const;

/** Removes the project with all that belongs to it, roles in it included. Its environments are locked. */
export async function removeProject(tx: Tx, { id, name }: Project): Promise<void> {
  await tx.query(
    'DELETE FROM flag_last_reads WHERE environment_id IN (SELECT id FROM environments WHERE project_id = $1)',
    [id],
  );
  for (const table of TABLES_OF_PROJECT) await tx.query(`DELETE FROM ${table} WHERE project_id = $1`, [id]);
  const deleted = await tx.query('DELETE FROM projects WHERE id = $1 RETURNING id', [id]);
  if (deleted.length === 0) return;

  // Tokens and people are locked last, as by every other operation, so that none waits for another in a circle.
  await tx.lockPeople();
  await removeProjectRoles(tx, id);

  tx.journal.change({ kind: 'project.deleted', projectId: id, payload: {} }, [
    { action: 'project.deleted', projectId: id, target: name, before: JSON.stringify({ name }) },
  ]);
}
