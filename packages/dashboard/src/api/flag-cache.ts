import type { QueryClient } from '@tanstack/react-query';
import { queryKeys } from './query-keys.ts';
import type { FlagRecord } from './types.ts';

/** Puts a record that the API answered into the cache, in the list as well. */
export function putFlag(queries: QueryClient, project: string, flag: FlagRecord): void {
  queries.setQueryData(queryKeys.flag(project, flag.key), flag);
  queries.setQueryData<readonly FlagRecord[]>(queryKeys.flags(project), (list) => {
    if (list === undefined) return undefined;
    const others = list.filter(({ key }) => key !== flag.key);
    return flag.archivedAt === undefined ? [...others, flag].sort(byKey) : others;
  });
}

/** Takes flags out of the list that are archived or gone. */
export function dropFlags(queries: QueryClient, project: string, keys: readonly string[]): void {
  const gone = new Set(keys);
  queries.setQueryData<readonly FlagRecord[]>(queryKeys.flags(project), (list) =>
    list?.filter(({ key }) => !gone.has(key)),
  );
}

/** Replaces one record wherever the cache holds it. */
export function updateFlagInCache(
  queries: QueryClient,
  project: string,
  key: string,
  update: (flag: FlagRecord) => FlagRecord,
): void {
  queries.setQueryData<FlagRecord>(queryKeys.flag(project, key), (flag) => flag && update(flag));
  queries.setQueryData<readonly FlagRecord[]>(queryKeys.flags(project), (list) =>
    list?.map((flag) => (flag.key === key ? update(flag) : flag)),
  );
}

function byKey(one: FlagRecord, other: FlagRecord): number {
  return one.key < other.key ? -1 : 1;
}
