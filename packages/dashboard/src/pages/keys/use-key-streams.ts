import { useMemo } from 'react';
import { useClients } from '../../api/clients.ts';
import type { EnvironmentClients } from '../../api/types.ts';
import { useLivePresence } from '../clients/use-live-presence.ts';

/** How many streams each key has open at the moment, by id; kept new. `undefined` while it is not known. */
export function useKeyStreams(project: string): ReadonlyMap<string, number> | undefined {
  const { data } = useClients(project);
  useLivePresence(project);
  return useMemo(() => data && streamsByKey(data), [data]);
}

function streamsByKey(environments: readonly EnvironmentClients[]): ReadonlyMap<string, number> {
  const byKey = new Map<string, number>();
  for (const { id, streams } of environments.flatMap(({ keys }) => keys)) {
    byKey.set(id, (byKey.get(id) ?? 0) + streams);
  }
  return byKey;
}
