import { defined } from '@halyard/protocol';
import type { Rights } from '../../domain/rights.ts';
import { commonRights, rightsOf } from '../../management/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import { isVouched } from '../people/operator.ts';
import { readOperator } from '../people/operator-table.ts';
import { type AccessToken, isValid } from './access-token.ts';

/** What a token may do, with its limit. */
type TokenRights = Rights & Pick<AccessToken, 'only' | 'exempt'>;

/**
 * What a token may do now; `undefined` once it has ended. A person's own token may do no more than the person: it ends when they
 * are removed, have no role, or have been away from the identity provider for too long. (Spec: S23.2)
 */
export async function tokenRights(
  db: Queryable,
  token: AccessToken,
  now: number,
): Promise<TokenRights | undefined> {
  if (!isValid(token, now)) return undefined;
  const { ownerId, only, exempt } = token;
  const limits = defined({ only, exempt });
  if (ownerId === undefined) return { ...rightsOf(token), ...limits };

  const owner = await readOperator(db, ownerId);
  if (owner === undefined || !isVouched(owner, now)) return undefined;

  const rights = commonRights(token, owner);
  return rights.role === 'none' && rights.projects === undefined ? undefined : { ...rights, ...limits };
}
