import { defined } from '@halyard/protocol';
import type { Queryable } from '../../storage/database.ts';
import { insertNew, type NullableColumns, parseOptionalList, withoutNulls } from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';
import type { RelayToken } from './relay-token.ts';

type RelayTokenRow = NullableColumns<Omit<RelayToken, 'projects' | 'environments'>> & {
  readonly projects: string | null;
  readonly environments: string | null;
};

/** All relay tokens, including revoked ones, by name. A damaged list is empty: such a token gets nothing. */
export async function readRelayTokens(db: Queryable): Promise<readonly RelayToken[]> {
  const rows = await db.query<RelayTokenRow>(
    `SELECT id, name, projects, environments, created_at AS "createdAt", revoked_at AS "revokedAt",
      last_used_at AS "lastUsedAt" FROM relay_tokens`,
  );
  const tokens = rows.map(({ projects, environments, ...row }) => ({
    ...withoutNulls<Omit<RelayToken, 'projects' | 'environments'>>(row),
    ...defined({ projects: parseOptionalList(projects), environments: parseOptionalList(environments) }),
  }));
  return tokens.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.createdAt - b.createdAt));
}

/** Inserts a relay token. `already_exists` when a token that is not revoked has the name. */
export async function insertRelayToken(tx: Tx, token: RelayToken, digest: string): Promise<void> {
  const { id, name, projects, environments, createdAt } = token;

  // The name is unique while the token can be used: a revoked one gives up its name.
  await insertNew(
    tx,
    `relay token "${name}"`,
    `INSERT INTO relay_tokens (id, name, active_name, digest, projects, environments, created_at)
      VALUES ($1, $2, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING id`,
    [id, name, digest, textOf(projects), textOf(environments), createdAt],
  );

  const scope = defined({ projects, environments });
  tx.journal.change({ kind: 'relay.created', projectId: '', payload: { id, digest, ...scope } }, [
    { action: 'relay.created', target: id, after: JSON.stringify({ name, ...scope }) },
  ]);
}

/** Marks a relay token revoked. A revoked one stays as it is. */
export async function storeRevocation(tx: Tx, { id, name }: RelayToken, at: number): Promise<void> {
  const [revoked] = await tx.query<{ digest: string }>(
    `UPDATE relay_tokens SET revoked_at = $1, active_name = NULL
      WHERE id = $2 AND revoked_at IS NULL RETURNING digest`,
    [at, id],
  );
  if (revoked === undefined) return;

  tx.journal.change({ kind: 'relay.revoked', projectId: '', payload: { id, digest: revoked.digest } }, [
    { action: 'relay.revoked', target: id, before: JSON.stringify({ name }) },
  ]);
}

function textOf(list: readonly string[] | undefined): string | null {
  return list === undefined ? null : JSON.stringify(list);
}
