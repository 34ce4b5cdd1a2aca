import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { RolloutPlanRecord } from './types.ts';

/** Which plans to read: all of a project, its open ones, or those of a flag. */
interface RolloutFilter {
  readonly status?: 'open';
  readonly flag?: string;
}

/** The rollout plans of a project. Read again when a step is due, because there may be no event if it is refused. */
export function useRollouts(project: string, filter: RolloutFilter = {}, isEnabled = true) {
  return useQuery({
    queryKey: [...queryKeys.rollouts(project), filter],
    enabled: isEnabled,
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ ...filter }).toString();
      const path = `${api`projects/${project}/rollouts`}${query === '' ? '' : `?${query}`}`;
      return (await request<{ rollouts: readonly RolloutPlanRecord[] }>('GET', path, { signal })).rollouts;
    },
    refetchInterval: ({ state }) => msToNextStep(state.data ?? [], Date.now()),
  });
}

/** Whether a plan can still run a step. */
export function isOpenPlan({ status }: Pick<RolloutPlanRecord, 'status'>): boolean {
  return status === 'running' || status === 'paused';
}

/** The longest a timer may wait; a browser runs a longer one at once. */
const LONGEST_MS = 3_600_000;

/** The time until the next step has run, in milliseconds; `false` if no plan is running. */
function msToNextStep(plans: readonly RolloutPlanRecord[], now: number): number | false {
  const dues = plans.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [Date.parse(dueAt)]));
  if (dues.length === 0) return false;
  return Math.min(LONGEST_MS, Math.max(1_000, Math.min(...dues) - now + 1_000));
}
