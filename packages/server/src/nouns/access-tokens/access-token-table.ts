import { isoTime } from '../../domain/iso-time.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  RIGHTS_COLUMNS,
  type RightsRow,
  rightsText,
  rightsValues,
  TOKEN_RIGHTS_TEXT,
  withRights,
} from '../../storage/rights.ts';
import { byText, insertNew } from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';
import type { AccessToken, FoundToken } from './access-token.ts';

const COLUMNS = `id, name, only_task AS "only", exempt, ${RIGHTS_COLUMNS}, created_at AS "createdAt",
  expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt", owner AS "ownerId",
  (SELECT email FROM operators WHERE operators.id = access_tokens.owner) AS owner`;

/** A token as its row has it: the engines have no booleans in common. */
type StoredToken = Omit<AccessToken, 'exempt'> & { readonly exempt: number };
type TokenRow = RightsRow<StoredToken>;

function toToken({ exempt, ...token }: StoredToken): AccessToken {
  return exempt === 0 ? token : { ...token, exempt: true };
}

/** All access tokens, including revoked and expired ones, by name. */
export async function readAccessTokens(db: Queryable): Promise<readonly AccessToken[]> {
  const rows = await db.query<TokenRow>(`SELECT ${COLUMNS} FROM access_tokens`);
  return byText((await withRights<StoredToken>(db, rows)).map(toToken), ({ name }) => name);
}

/** The token of this digest, also a revoked or expired one. */
export async function readTokenByDigest(db: Queryable, digest: string): Promise<FoundToken | undefined> {
  const rows = await db.query<RightsRow<StoredToken & { readonly rights: string }>>(
    `SELECT ${COLUMNS}, ${TOKEN_RIGHTS_TEXT} AS rights FROM access_tokens WHERE digest = $1`,
    [digest],
  );
  const [found] = await withRights<StoredToken & { readonly rights: string }>(db, rows);
  if (found === undefined) return undefined;

  const { rights, ...token } = found;
  return { token: toToken(token), credential: { kind: 'token', id: token.id, rights } };
}

/** Inserts an access token. `already_exists` when its id or digest does. */
export async function insertAccessToken(tx: Tx, token: AccessToken, digest: string): Promise<void> {
  const { id, name, only, exempt, ownerId, createdAt, expiresAt } = token;

  await insertNew(
    tx,
    `access token "${name}"`,
    `INSERT INTO access_tokens (id, name, digest, only_task, created_at, expires_at, role, can_change_protected,
        project_roles, exempt, owner)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING RETURNING id`,
    [
      id,
      name,
      digest,
      only ?? null,
      createdAt,
      expiresAt ?? null,
      ...rightsValues(token),
      exempt ? 1 : 0,
      ownerId ?? null,
    ],
  );

  const expires = expiresAt === undefined ? undefined : isoTime(expiresAt);
  const personal = ownerId === undefined ? undefined : true;
  const after = JSON.stringify({ name, personal, ...rightsText(token), only, exempt, expiresAt: expires });
  tx.journal.audit({ action: 'token.created', target: id, after });
}

/** Marks an access token revoked. A revoked one stays as it is. */
export async function storeRevocation(tx: Tx, { id, name }: AccessToken, at: number): Promise<void> {
  const revoked = await tx.query(
    'UPDATE access_tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING id',
    [at, id],
  );
  if (revoked.length === 0) return;
  tx.journal.audit({ action: 'token.revoked', target: id, before: JSON.stringify({ name }) });
}
