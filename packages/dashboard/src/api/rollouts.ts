import { queryOptions, useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, readingList } from './request.ts';
import type { RolloutPlanRecord } from './types.ts';

/** Which plans to read: all of a project, its open ones, or those of a flag. */
interface RolloutFilter {
  readonly status?: 'open';
  readonly flag?: string;
}

/** The rollout plans of a project. */
export function useRollouts(project: string, filter: RolloutFilter = {}) {
  return useQuery(rolloutsQuery(project, filter));
}

/** Open rollout plans by flag key and environment name with a slash between them, which no key has. */
export type OpenPlans = ReadonlyMap<string, RolloutPlanRecord>;

/** The open rollout plans of a project by their places. The same object until one of them changes. */
export function useOpenPlans(project: string) {
  return useQuery({ ...rolloutsQuery(project, { status: 'open' }), select: byPlace });
}

function byPlace(plans: readonly RolloutPlanRecord[]): OpenPlans {
  return new Map(plans.map((plan) => [`${plan.flag}/${plan.environment}`, plan]));
}

function rolloutsQuery(project: string, filter: RolloutFilter) {
  const query = new URLSearchParams({ ...filter }).toString();
  const path = `${api`projects/${project}/rollouts`}${query === '' ? '' : `?${query}`}`;
  return queryOptions({
    queryKey: [...queryKeys.rollouts(project), filter],
    queryFn: readingList<RolloutPlanRecord>(path, 'rollouts'),
  });
}

/** Whether a plan can still run a step. */
export function isOpenPlan({ status }: Pick<RolloutPlanRecord, 'status'>): boolean {
  return status === 'running' || status === 'paused';
}
