import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, readingList, request } from './request.ts';
import type { RelayTokenRecord } from './types.ts';

/** The input for a new relay token; absent lists mean all. */
interface NewRelayToken {
  readonly name: string;
  readonly projects?: readonly string[];
  readonly environments?: readonly string[];
}

/** All relay tokens, including revoked ones. Only administrators can read them. */
export function useRelayTokens({ enabled }: { readonly enabled: boolean }) {
  return useQuery({
    enabled,
    queryKey: queryKeys.relayTokens,
    queryFn: readingList<RelayTokenRecord>(api`relay-tokens`, 'relayTokens'),
  });
}

/** Creates a relay token. Only this response contains the secret: keep it out of the cache. */
export function createRelayToken(
  token: NewRelayToken,
): Promise<RelayTokenRecord & { readonly token: string }> {
  return request('POST', api`relay-tokens`, { body: token });
}

/** Revokes a relay token permanently. */
export function revokeRelayToken(id: string): Promise<undefined> {
  return request('DELETE', api`relay-tokens/${id}`);
}
