import type { RolloutPlanStep } from '@halyard/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Wanted } from './approvals.ts';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { RolloutPlanRecord } from './types.ts';

/** A plan to start. */
interface NewRollout {
  readonly flag: string;
  readonly environment: string;
  readonly steps: readonly RolloutPlanStep[];
  readonly note?: string;
  /** Also for a flag with a scheduled change. */
  readonly anyway: boolean;
}

/** How a plan is changed. */
interface ChangeOptions extends Partial<Wanted> {
  readonly confirmed: string | undefined;
}

/** Starts a plan. */
export function useStartRollout(project: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ plan: body, ...options }: { readonly plan: NewRollout } & ChangeOptions) =>
      request<RolloutPlanRecord>('POST', api`projects/${project}/rollouts`, { body, ...options }),
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.rollouts(project) }),
  });
}

/** What a person can do with an open plan. */
export type RolloutCommand = 'pause' | 'resume' | 'advance' | 'stop';

/** Runs a command on a plan. */
export function commandRollout(
  project: string,
  id: string,
  { command, ...options }: { readonly command: RolloutCommand } & ChangeOptions,
): Promise<RolloutPlanRecord> {
  return request('POST', api`projects/${project}/rollouts/${id}/${command}`, options);
}
