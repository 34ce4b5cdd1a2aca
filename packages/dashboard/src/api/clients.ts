import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useLiveEvent } from './live.tsx';
import type { LiveEvents, LivePresence } from './live-connection.ts';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { DeliveryRecord, EnvironmentClients } from './types.ts';

/** The streams that are open on a project's environments. */
export function useClients(project: string) {
  return useQuery({
    queryKey: queryKeys.clients(project),
    queryFn: ({ signal }) => fetchClients(project, signal),
    staleTime: 5_000,
  });
}

/** Asks for the open streams once. */
async function fetchClients(project: string, signal?: AbortSignal): Promise<readonly EnvironmentClients[]> {
  const path = api`projects/${project}/clients`;
  return (await request<{ environments: readonly EnvironmentClients[] }>('GET', path, { signal }))
    .environments;
}

/** Keeps the list of clients as new as the stream: the totals at once, the keys when they are asked for again. */
export function useLivePresence(project: string): void {
  const queries = useQueryClient();
  const listen = useCallback(
    (presence: LivePresence) => {
      if (presence.project !== project) return;
      const key = queryKeys.clients(project);
      queries.setQueryData<readonly EnvironmentClients[]>(key, (list) =>
        list?.map((each) => {
          const told = presence.environments.find(({ environment }) => environment === each.environment);
          return told === undefined ? each : { ...each, streams: told.streams, nodes: told.nodes };
        }),
      );
      void queries.invalidateQueries({ queryKey: key });
    },
    [project, queries],
  );
  useLiveEvent('presence', listen);
}

/** A change of a project and how far it has come. */
export interface ProjectDelivery extends DeliveryRecord {
  /** Absent for a change that only the stream has told of so far. */
  readonly revision?: number;
  readonly committedAt?: string;
}

const MOST = 200;

/** The newest deliveries of a project, newest first, as they happen. */
export function useProjectDeliveries(project: string) {
  const queries = useQueryClient();
  const listen = useCallback(
    (event: LiveEvents['delivery']) => {
      if (event.project !== project) return;
      queries.setQueryData<readonly ProjectDelivery[]>(queryKeys.deliveries(project), (list) =>
        list === undefined ? undefined : withDelivery(list, event),
      );
    },
    [project, queries],
  );
  useLiveEvent('delivery', listen);
  return useQuery({
    queryKey: queryKeys.deliveries(project),
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const path = `${api`projects/${project}/deliveries`}?limit=${MOST}`;
      return (await request<{ deliveries: readonly ProjectDelivery[] }>('GET', path, { signal })).deliveries;
    },
  });
}

/** The list with what the stream told: each event supersedes what was known of its change. */
function withDelivery(list: readonly ProjectDelivery[], event: DeliveryRecord): readonly ProjectDelivery[] {
  const known = list.find(({ seq }) => seq === event.seq);
  const merged: ProjectDelivery = { committedAt: new Date().toISOString(), ...known, ...event };
  const others = list.filter(({ seq }) => seq !== event.seq);
  return [merged, ...others].sort((one, other) => other.seq - one.seq).slice(0, MOST);
}

/**
 * Counts the open streams of a project, of one environment or with one key. `undefined` when the server does not answer:
 * a question that shows the count can do without it.
 */
export async function countOpenStreams(
  project: string,
  { environment, key }: { readonly environment?: string; readonly key?: string } = {},
): Promise<number | undefined> {
  try {
    const counts = (await fetchClients(project))
      .filter((each) => environment === undefined || each.environment === environment)
      .flatMap(({ streams, keys }) =>
        key === undefined ? [streams] : keys.filter(({ id }) => id === key).map((each) => each.streams),
      );
    return counts.reduce((sum, streams) => sum + streams, 0);
  } catch {
    return undefined;
  }
}
