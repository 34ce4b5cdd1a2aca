import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, readingList, request } from './request.ts';
import type { GlobalRole, ProjectRole, TokenRecord } from './types.ts';

/** The input for a new access token. */
export interface NewToken {
  readonly name: string;
  readonly role: GlobalRole;
  readonly canChangeProtected: boolean;
  readonly projects: readonly ProjectRole[];
  readonly only: TokenRecord['only'];
  /** `null`: never. */
  readonly expiresAt: string | null;
}

/** The access tokens that the person administers, including revoked and expired ones. Only administrators can read them. */
export function useTokens({ enabled }: { readonly enabled: boolean }) {
  return useQuery({
    enabled,
    queryKey: queryKeys.tokens,
    queryFn: readingList<TokenRecord>(api`tokens`, 'tokens'),
  });
}

/** The access tokens that belong to the signed-in person, including revoked and expired ones. */
export function useOwnTokens() {
  return useQuery({
    // Below the other list, so that a change of tokens touches both.
    queryKey: [...queryKeys.tokens, 'own'],
    queryFn: readingList<TokenRecord>(api`session/tokens`, 'tokens'),
  });
}

/** Creates an access token. Only this response contains the secret: keep it out of the cache. */
export function createToken(token: NewToken): Promise<TokenRecord & { readonly token: string }> {
  return request('POST', api`tokens`, { body: token });
}

/** Creates a token that belongs to the signed-in person: it does no more than they may. As {@link createToken}. */
export function createOwnToken(
  token: Omit<NewToken, 'projects'>,
): Promise<TokenRecord & { readonly token: string }> {
  return request('POST', api`session/tokens`, { body: token });
}

/** Revokes an access token permanently. */
export function revokeToken(id: string): Promise<undefined> {
  return request('DELETE', api`tokens/${id}`);
}

/** Revokes a token that belongs to the signed-in person permanently. */
export function revokeOwnToken(id: string): Promise<undefined> {
  return request('DELETE', api`session/tokens/${id}`);
}

/** Whether a token still works at `now`, in epoch milliseconds. */
export function tokenStatus(
  { revokedAt, expiresAt }: Pick<TokenRecord, 'revokedAt' | 'expiresAt'>,
  now: number,
): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) <= now ? 'expired' : 'active';
}
