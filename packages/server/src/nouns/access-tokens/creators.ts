import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import { REMOVED_PERSON } from '../../domain/redaction.ts';
import type { Queryable } from '../../storage/database.ts';
import { isSettingsToken } from '../people/grants.ts';
import { readTokenCreations, type TokenCreation } from './creators-query.ts';

/**
 * The token that made the entry `seq` as the actor `by`; `undefined` for a person. Two valid tokens never share a name, so it is
 * the last one that was created under this name before the entry.
 */
export function tokenActing(
  creations: readonly TokenCreation[],
  { by, seq }: Pick<TokenCreation, 'by' | 'seq'>,
): TokenCreation | undefined {
  return creations.findLast((token) => token.seq < seq && by === `token:${token.name}`);
}

/**
 * The person to whom an access token belongs, or who created it, also through other tokens; the token from the settings is such a
 * person. `undefined` where that is not known, such as after personal data was removed from the audit log.
 */
function personBehind(creations: readonly TokenCreation[], tokenId: string): string | undefined {
  let token = creations.find(({ id }) => id === tokenId);
  while (token !== undefined) {
    const { owner, by } = token;
    if (owner !== undefined) return `operator:${owner}`;
    if (!by.startsWith('token:') || isSettingsToken({ name: by }))
      return by === REMOVED_PERSON ? undefined : by;

    token = tokenActing(creations, token);
  }
  return undefined;
}

/**
 * The person behind a token that proposes a change or makes one in an emergency, who must not decide on it; `undefined` for a person.
 * `forbidden` where that is not known: then any approver could be that person. (Spec: S20.3)
 */
export async function requirePersonBehind(
  db: Queryable,
  { credential }: Pick<Actor, 'credential'>,
): Promise<string | undefined> {
  if (credential?.kind !== 'token') return undefined;
  const person = personBehind(await readTokenCreations(db), credential.id);
  if (person !== undefined) return person;

  throw new ServiceError(
    'forbidden',
    'The audit log no longer says who created this token, so its creator could approve this: use a new token.',
  );
}
