import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { ScheduledStep, ScheduleRecord } from './types.ts';

/** A new schedule. */
export interface NewSchedule {
  readonly environment: string;
  readonly dueAt: string;
  readonly changes: readonly ScheduledStep[];
  readonly note?: string;
}

/** The schedules of a project. Fetched again when one is due, because there may be no event if it fails. */
export function useSchedules(project: string) {
  return useQuery({
    queryKey: queryKeys.schedules(project),
    staleTime: 5_000,
    queryFn: async ({ signal }) => {
      const path = api`projects/${project}/schedules`;
      return (await request<{ schedules: readonly ScheduleRecord[] }>('GET', path, { signal })).schedules;
    },
    refetchInterval: ({ state }) => msToNextDue(state.data ?? [], Date.now()),
  });
}

/** The longest a timer may wait; a browser runs a longer one at once. */
const LONGEST_MS = 3_600_000;

/** The time until the next schedule has run, in milliseconds; `false` if none is pending. */
function msToNextDue(schedules: readonly ScheduleRecord[], now: number): number | false {
  const dues = schedules.filter(({ status }) => status === 'pending').map(({ dueAt }) => Date.parse(dueAt));
  if (dues.length === 0) return false;
  return Math.min(LONGEST_MS, Math.max(1_000, Math.min(...dues) - now + 1_000));
}

/** A schedule to create. */
interface SchedulePost {
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
    mutationFn: ({ schedule, text = JSON.stringify(schedule), anyway, confirmed }: SchedulePost) =>
      request<ScheduleRecord>('POST', api`projects/${project}/schedules`, {
        text: anyway ? `{"anyway":true,${text.slice(1)}` : text,
        confirmed,
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
