import { defined } from '@halyard/protocol';
import { isoTime } from '../../domain/iso-time.ts';
import { DELETED_MARK, type ProjectKey } from '../../domain/project.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  byText,
  insertNew,
  type NullableColumns,
  type PageOf,
  pageRows,
  parseTextList,
  withoutNulls,
} from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';

const SELECT = `SELECT id, project_id AS "projectId", name, last_four AS "lastFour", environments,
  created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt",
  replaced_by AS "replacedBy" FROM project_keys`;

type KeyRow = NullableColumns<Omit<ProjectKey, 'environments'>> & { readonly environments: unknown };

/** Every key of the project by name, also revoked and expired ones. With `page`, one key more than it takes at most. */
export async function readKeys(
  db: Queryable,
  projectId: string,
  page?: PageOf<readonly [name: string, id: string]>,
): Promise<readonly ProjectKey[]> {
  const select = `${SELECT} WHERE project_id = $1`;
  const rows = await pageRows<KeyRow>(db, select, projectId, { order: ['name', 'id'], page });
  const keys = rows.map(toKey);
  return page === undefined ? byText(keys, ({ name }) => name) : keys;
}

/** One key, of any project. */
export async function readKey(db: Queryable, id: string): Promise<ProjectKey | undefined> {
  const [row] = await db.query<KeyRow>(`${SELECT} WHERE id = $1`, [id]);
  return row && toKey(row);
}

function toKey({ environments, ...row }: KeyRow): ProjectKey {
  return {
    ...withoutNulls<Omit<ProjectKey, 'environments'>>(row),
    environments: parseTextList(environments).filter((name) => !name.endsWith(DELETED_MARK)),
  };
}

/** Inserts a key. `already_exists` when the project has one of that name. */
export async function insertKey(tx: Tx, key: ProjectKey, digest: string): Promise<void> {
  const { id, projectId, name, lastFour, environments, createdAt, expiresAt } = key;

  await insertNew(
    tx,
    `project key "${name}"`,
    `INSERT INTO project_keys (id, project_id, name, digest, last_four, environments, created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`,
    [id, projectId, name, digest, lastFour, JSON.stringify(environments), createdAt, expiresAt ?? null],
  );

  const expires = expiresAt === undefined ? undefined : isoTime(expiresAt);
  const after = JSON.stringify({ name, lastFour, environments, expiresAt: expires });
  const payload = defined({ id, digest, environments, expiresAt });
  tx.journal.change({ kind: 'key.created', projectId, payload }, [
    { action: 'key.created', projectId, target: id, after },
  ]);
}

/**
 * Gives a key an end, because `replacedBy` was made in its place. Returns whether it did: not when another transaction has
 * revoked or replaced the key since it was read.
 */
export async function storeKeyReplacement(
  tx: Tx,
  { id, projectId, name, replacedBy: earlier, expiresAt: before }: ProjectKey,
  { replacedBy, expiresAt }: { readonly replacedBy: string; readonly expiresAt: number },
): Promise<boolean> {
  const [stored] = await tx.query<{ digest: string; environments: unknown }>(
    `UPDATE project_keys SET replaced_by = $1, expires_at = $2
      WHERE id = $3 AND revoked_at IS NULL AND COALESCE(replaced_by, '') = $4 RETURNING digest, environments`,
    [replacedBy, expiresAt, id, earlier ?? ''],
  );
  if (stored === undefined) return false;

  // The names as stored: a name whose environment was deleted keeps the key valid.
  const environments = parseTextList(stored.environments);
  const payload = { id, digest: stored.digest, environments, expiresAt };
  const times = [before, expiresAt].map((at) => (at === undefined ? undefined : isoTime(at)));
  tx.journal.change({ kind: 'key.created', projectId, payload }, [
    {
      action: 'key.replaced',
      projectId,
      target: id,
      before: JSON.stringify({ name, expiresAt: times[0] }),
      after: JSON.stringify({ name, expiresAt: times[1], replacedBy }),
    },
  ]);
  return true;
}

/** Marks the key revoked. A revoked key stays as it is. */
export async function storeKeyRevocation(
  tx: Tx,
  { id, projectId, name }: ProjectKey,
  at: number,
): Promise<void> {
  const [revoked] = await tx.query<{ digest: string }>(
    'UPDATE project_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING digest',
    [at, id],
  );
  if (revoked === undefined) return;

  const payload = { id, digest: revoked.digest };
  tx.journal.change({ kind: 'key.revoked', projectId, payload }, [
    { action: 'key.revoked', projectId, target: id, before: JSON.stringify({ name }) },
  ]);
}
