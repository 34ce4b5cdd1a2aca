import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useLiveEvent } from './live.tsx';
import type { LiveEvents } from './live-events.ts';
import { queryKeys } from './query-keys.ts';
import { api, request } from './request.ts';
import type { DeliveryRecord } from './types.ts';

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
