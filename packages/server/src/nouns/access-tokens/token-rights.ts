import type { Rights } from '../../domain/rights.ts';
import { commonRights, rightsOf } from '../../management/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import { isVouched } from '../people/operator.ts';
import { readOperator } from '../people/operator-table.ts';
import { type AccessToken, isValid } from './access-token.ts';

/**
 * What a token may do now; `undefined` once it has ended. A person's own token may do no more than the person: it ends when they
 * are removed, have no role, or have been away from the identity provider for too long. (Spec: S23.2)
 */
export async function tokenRights(
  db: Queryable,
  token: AccessToken,
  now: number,
): Promise<Rights | undefined> {
  if (!isValid(token, now)) return undefined;
  if (token.ownerId === undefined) return rightsOf(token);

  const owner = await readOperator(db, token.ownerId);
  if (owner === undefined || !isVouched(owner, now)) return undefined;

  const rights = commonRights(token, owner);
  return rights.role === 'none' && rights.projects === undefined ? undefined : rights;
}
