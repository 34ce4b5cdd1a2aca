import type { QueryClient, QueryKey } from '@tanstack/react-query';
import { queryKeys } from './query-keys.ts';
import type { FlagRecord } from './types.ts';

/**
 * Replaces what the cache holds, if it holds anything. It is no answer of the server: what was to be asked for again
 * still is.
 */
export function patchCached<Data>(
  queries: QueryClient,
  queryKey: QueryKey,
  update: (data: Data) => Data,
): void {
  const query = queries.getQueryCache().find<Data>({ queryKey, exact: true });
  if (query?.state.data !== undefined) query.setState({ data: update(query.state.data) });
}

/** Puts a record that the API answered into the cache, in the list as well. */
export function putFlag(queries: QueryClient, project: string, flag: FlagRecord): void {
  queries.setQueryData(queryKeys.flag(project, flag.key), flag);
  patchCached<readonly FlagRecord[]>(queries, queryKeys.flags(project), (list) => {
    const others = list.filter(({ key }) => key !== flag.key);
    return flag.archivedAt === undefined ? [...others, flag].sort(byKey) : others;
  });
}

/** Takes flags out of the list that are archived or gone. */
export function dropFlags(queries: QueryClient, project: string, keys: readonly string[]): void {
  const gone = new Set(keys);
  patchCached<readonly FlagRecord[]>(queries, queryKeys.flags(project), (list) =>
    list.filter(({ key }) => !gone.has(key)),
  );
}

/** Replaces one record wherever the cache holds it. */
export function updateFlagInCache(
  queries: QueryClient,
  project: string,
  key: string,
  update: (flag: FlagRecord) => FlagRecord,
): void {
  patchCached<FlagRecord>(queries, queryKeys.flag(project, key), update);
  patchCached<readonly FlagRecord[]>(queries, queryKeys.flags(project), (list) =>
    list.map((flag) => (flag.key === key ? update(flag) : flag)),
  );
}

function byKey(one: FlagRecord, other: FlagRecord): number {
  return one.key < other.key ? -1 : 1;
}
