import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Wanted } from './approvals.ts';
import { queryKeys } from './query-cache.ts';
import { api, readingList, request } from './request.ts';
import type { ScheduledStep, ScheduleRecord } from './types.ts';

/** A new schedule. */
export interface NewSchedule {
  readonly environment: string;
  readonly dueAt: string;
  readonly changes: readonly ScheduledStep[];
  readonly note?: string;
}

/** The schedules of a project. */
export function useSchedules(project: string) {
  return useQuery({
    queryKey: queryKeys.schedules(project),
    staleTime: 5_000,
    queryFn: readingList<ScheduleRecord>(api`projects/${project}/schedules`, 'schedules'),
  });
}

/** A schedule to create. */
interface SchedulePost extends Partial<Wanted> {
  readonly schedule: NewSchedule;
  /** The same as JSON text, in which a value keeps its notation. */
  readonly text?: string | undefined;
  /** Also for a flag with an open rollout plan. */
  readonly anyway: boolean;
  readonly confirmed?: string | undefined;
}

/** Creates a schedule. */
export function useCreateSchedule(project: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ schedule, text = JSON.stringify(schedule), anyway, ...options }: SchedulePost) =>
      request<ScheduleRecord>('POST', api`projects/${project}/schedules`, {
        text: anyway ? `{"anyway":true,${text.slice(1)}` : text,
        ...options,
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.schedules(project) }),
  });
}

/** Cancels a pending schedule. */
export function useCancelSchedule(project: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request<undefined>('DELETE', api`projects/${project}/schedules/${id}`),
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.schedules(project) }),
  });
}
