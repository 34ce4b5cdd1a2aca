import { defined } from '@halyard/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useLiveEvent } from './live.tsx';
import { queryKeys } from './query-cache.ts';
import { api, readingList } from './request.ts';
import type { DeliveryRecord, EnvironmentClients } from './types.ts';

/** Lists the open streams of a project's environments. */
export function useClients(project: string) {
  return useQuery({
    queryKey: queryKeys.clients(project),
    queryFn: readingClients(project),
    staleTime: 5_000,
  });
}

function readingClients(project: string) {
  return readingList<EnvironmentClients>(api`projects/${project}/clients`, 'environments');
}

/** Keeps the list of clients up to date: totals come with the event, the keys are fetched again. */
export function useLivePresence(project: string): void {
  const queries = useQueryClient();
  useLiveEvent('presence', (presence) => {
    if (presence.project !== project) return;

    const key = queryKeys.clients(project);
    queries.setQueryData<readonly EnvironmentClients[]>(key, (list) =>
      list?.map((each) => {
        const live = presence.environments.find(({ environment }) => environment === each.environment);
        return live === undefined ? each : { ...each, streams: live.streams, nodes: live.nodes };
      }),
    );
    void queries.invalidateQueries({ queryKey: key });
  });
}

/** How many of the newest deliveries of a project are known at most. */
export const MOST_DELIVERIES = 200;

/** How many flags of a change are remembered. */
const NAMED = 8;

/** The latest deliveries of a project, newest first, updated live. */
export function useProjectDeliveries(project: string) {
  const queries = useQueryClient();
  // What each change was about, until the first report of its delivery: reports have only the number of the change.
  const changed = useRef(new Map<number, DeliveryRecord['changed']>());
  useLiveEvent('change', ({ seq, environment, changes, ...event }) => {
    if (event.project !== project || changes === undefined || environment === undefined) return;
    const places = changes
      .slice(0, NAMED)
      .map(({ key }) => ({ action: 'flag.changed', target: key, environment }));
    changed.current.set(seq, places);
    const [oldest] = changed.current.keys();
    if (changed.current.size > MOST_DELIVERIES && oldest !== undefined) changed.current.delete(oldest);
  });
  useLiveEvent('delivery', (event) => {
    if (event.project !== project) return;
    const known = { ...event, ...defined({ changed: changed.current.get(event.seq) }) };
    changed.current.delete(event.seq);
    queries.setQueryData<readonly DeliveryRecord[]>(queryKeys.deliveries(project), (list) =>
      list === undefined ? undefined : withDelivery(list, known),
    );
  });

  return useQuery({
    queryKey: queryKeys.deliveries(project),
    staleTime: 5_000,
    queryFn: readingList<DeliveryRecord>(
      `${api`projects/${project}/deliveries`}?limit=${MOST_DELIVERIES}`,
      'deliveries',
    ),
  });
}

/** The list with a delivery event applied, which replaces earlier data about the same change. */
function withDelivery(list: readonly DeliveryRecord[], event: DeliveryRecord): readonly DeliveryRecord[] {
  const known = list.find(({ seq }) => seq === event.seq);
  const merged: DeliveryRecord = { committedAt: new Date().toISOString(), ...known, ...event };
  const others = list.filter(({ seq }) => seq !== event.seq);
  return [merged, ...others].sort((one, other) => other.seq - one.seq).slice(0, MOST_DELIVERIES);
}

/**
 * Counts the open streams of a project, of one environment or with one key. `undefined` if the server does not respond:
 * a dialog that shows the count works without it.
 */
export async function countOpenStreams(
  project: string,
  { environment, key }: { readonly environment?: string; readonly key?: string } = {},
): Promise<number | undefined> {
  try {
    const counts = (await readingClients(project)({}))
      .filter((each) => environment === undefined || each.environment === environment)
      .flatMap(({ streams, keys }) =>
        key === undefined ? [streams] : keys.filter(({ id }) => id === key).map((each) => each.streams),
      );
    return counts.reduce((sum, streams) => sum + streams, 0);
  } catch {
    return undefined;
  }
}
