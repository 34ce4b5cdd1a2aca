import type { RolloutPlanStep } from '@halyard/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
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

/** Starts a plan. */
export function useStartRollout(project: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ confirmed, ...body }: NewRollout & { readonly confirmed?: string | undefined }) =>
      request<RolloutPlanRecord>('POST', api`projects/${project}/rollouts`, { body, confirmed }),
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.rollouts(project) }),
  });
}

/** What a person can do with an open plan. */
export type RolloutCommand = 'pause' | 'resume' | 'advance' | 'stop';

/** Runs a command on a plan. */
export function commandRollout(
  project: string,
  id: string,
  {
    command,
    ...options
  }: {
    readonly command: RolloutCommand;
    readonly confirmed?: string | undefined;
    readonly note?: string | undefined;
  },
): Promise<RolloutPlanRecord> {
  return request('POST', api`projects/${project}/rollouts/${id}/${command}`, options);
}
