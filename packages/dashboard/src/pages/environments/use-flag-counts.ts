import { skipToken, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queryKeys } from '../../api/query-keys.ts';
import type { FlagRecord } from '../../api/types.ts';

/** How many flags each environment has, where the list is here anyway: it is too long to be asked for only for this. */
export function useFlagCounts(project: string): ReadonlyMap<string, number> | undefined {
  const { data } = useQuery<readonly FlagRecord[]>({
    queryKey: queryKeys.flags(project),
    queryFn: skipToken,
  });
  return useMemo(() => data && counts(data), [data]);
}

function counts(flags: readonly FlagRecord[]): ReadonlyMap<string, number> {
  const byEnvironment = new Map<string, number>();
  for (const name of flags.flatMap(({ environments }) => Object.keys(environments))) {
    byEnvironment.set(name, (byEnvironment.get(name) ?? 0) + 1);
  }
  return byEnvironment;
}
