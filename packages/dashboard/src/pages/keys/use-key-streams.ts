import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useClients } from '../../api/clients.ts';
import { useLiveEvent } from '../../api/live.tsx';
import { queryKeys } from '../../api/query-keys.ts';
import type { EnvironmentClients } from '../../api/types.ts';

/** How many streams each key has open at the moment, by id; kept new. `undefined` while it is not known. */
export function useKeyStreams(project: string): ReadonlyMap<string, number> | undefined {
  const queries = useQueryClient();
  const { data } = useClients(project);
  useLiveEvent(
    'presence',
    useCallback(
      () => void queries.invalidateQueries({ queryKey: queryKeys.clients(project) }),
      [queries, project],
    ),
  );
  return useMemo(() => data && streamsByKey(data), [data]);
}

function streamsByKey(environments: readonly EnvironmentClients[]): ReadonlyMap<string, number> {
  const byKey = new Map<string, number>();
  for (const { id, streams } of environments.flatMap(({ keys }) => keys)) {
    byKey.set(id, (byKey.get(id) ?? 0) + streams);
  }
  return byKey;
}
