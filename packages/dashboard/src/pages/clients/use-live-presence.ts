import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useLiveEvent } from '../../api/live.tsx';
import type { LivePresence } from '../../api/live-events.ts';
import { queryKeys } from '../../api/query-keys.ts';
import type { EnvironmentClients } from '../../api/types.ts';

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
