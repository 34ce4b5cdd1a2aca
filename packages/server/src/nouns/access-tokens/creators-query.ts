import type { Queryable } from '../../storage/database.ts';
import { IS_SELDOM } from '../../storage/places.ts';
import { type NullableColumns, withoutNulls } from '../../storage/rows.ts';

/** How an access token came to be. */
export interface TokenCreation {
  readonly id: string;
  readonly name: string;
  /** The id of the person to whom it belongs, and their e-mail while they exist. */
  readonly ownerId?: string;
  readonly owner?: string;
  /** The actor who created it, as in the audit log, and where its entry is there. */
  readonly by: string;
  readonly seq: number;
}

/** The access tokens with their creators, as far as the audit log reaches back, also ended ones; the oldest first. */
export async function readTokenCreations(db: Queryable): Promise<readonly TokenCreation[]> {
  const rows = await db.query<NullableColumns<TokenCreation>>(
    `SELECT access_tokens.id, access_tokens.name, owner AS "ownerId", actor AS "by", seq,
        (SELECT email FROM operators WHERE operators.id = access_tokens.owner) AS owner
      FROM audit_log JOIN access_tokens ON access_tokens.id = target
      WHERE action = 'token.created' AND ${IS_SELDOM} ORDER BY seq`,
  );
  return rows.map(withoutNulls<TokenCreation>);
}
