import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { RolloutPlanRecord } from './types.ts';

/** Which plans to read: all of a project, its open ones, or those of a flag. */
interface RolloutFilter {
  readonly status?: 'open';
  readonly flag?: string;
}

/** The rollout plans of a project. */
export function useRollouts(project: string, filter: RolloutFilter = {}, isEnabled = true) {
  return useQuery({
    queryKey: [...queryKeys.rollouts(project), filter],
    enabled: isEnabled,
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ ...filter }).toString();
      const path = `${api`projects/${project}/rollouts`}${query === '' ? '' : `?${query}`}`;
      return (await request<{ rollouts: readonly RolloutPlanRecord[] }>('GET', path, { signal })).rollouts;
    },
  });
}

/** Whether a plan can still run a step. */
export function isOpenPlan({ status }: Pick<RolloutPlanRecord, 'status'>): boolean {
  return status === 'running' || status === 'paused';
}
