import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, readingList, request } from './request.ts';
import type { KeyRecord } from './types.ts';

/** The input for a new key. */
interface NewKey {
  readonly name: string;
  readonly environments: readonly string[];
  readonly expiresAt?: string;
}

/** The keys of a project, including revoked and expired ones. */
export function useKeys(project: string) {
  return useQuery({
    queryKey: queryKeys.keys(project),
    queryFn: readingList<KeyRecord>(api`projects/${project}/keys`, 'keys'),
  });
}

/** Creates a key. Only this response contains the secret: keep it out of the cache. */
export function createKey(project: string, key: NewKey): Promise<KeyRecord & { readonly key: string }> {
  return request('POST', api`projects/${project}/keys`, { body: key });
}

/** Creates a key in place of another one, which ends at a time. Only this response contains the secret: keep it out of the cache. */
export function replaceKey(id: string, endsAt: string): Promise<KeyRecord & { readonly key: string }> {
  return request('POST', api`keys/${id}/replace`, { body: { endsAt } });
}

/** Revokes a key permanently. */
export function revokeKey(id: string): Promise<KeyRecord> {
  return request('DELETE', api`keys/${id}`);
}
