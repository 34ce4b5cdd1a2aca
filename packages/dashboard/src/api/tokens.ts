import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { Role } from './types.ts';

/** An access token without the token itself. */
export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
  readonly lastUsedAt?: string;
}

/** What a new access token is made of. */
interface NewToken {
  readonly name: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
  readonly expiresAt?: string;
}

/** Every access token, also revoked and expired ones. Only administrators may read them. */
export function useTokens({ enabled = true } = {}) {
  return useQuery({
    enabled,
    queryKey: queryKeys.tokens,
    queryFn: async ({ signal }) =>
      (await request<{ tokens: readonly TokenRecord[] }>('GET', api`tokens`, { signal })).tokens,
  });
}

/** Makes an access token. The answer holds the token itself, this once: keep it out of the cache. */
export function createToken(token: NewToken): Promise<TokenRecord & { readonly token: string }> {
  return request('POST', api`tokens`, { body: token });
}

/** Revokes an access token for good. */
export function revokeToken(id: string): Promise<undefined> {
  return request('DELETE', api`tokens/${id}`);
}

/** Whether a token still opens something at `now`, in epoch milliseconds. */
export function tokenStatus(
  { revokedAt, expiresAt }: Pick<TokenRecord, 'revokedAt' | 'expiresAt'>,
  now: number,
): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) <= now ? 'expired' : 'active';
}
