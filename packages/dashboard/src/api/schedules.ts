import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { FlagState, Json } from './types.ts';

/** The status of a schedule. */
export type ScheduleStatus = 'pending' | 'done' | 'failed' | 'cancelled';

/** Changes to a state; absent members are kept. */
export interface StatePatch {
  readonly enabled?: boolean;
  readonly value?: Json;
  readonly rolloutPct?: number;
  readonly unset?: readonly ('value' | 'rolloutPct')[];
}

/** One step of a scheduled change: sets a state, removes it, or changes some of its members. */
export interface ScheduledStep {
  readonly key: string;
  readonly state?: FlagState | null;
  readonly patch?: StatePatch;
}

/** A new schedule. */
export interface NewSchedule {
  readonly environment: string;
  readonly dueAt: string;
  readonly changes: readonly ScheduledStep[];
  readonly note?: string;
}

/** A scheduled change. */
export interface ScheduleRecord extends Omit<NewSchedule, 'environment'> {
  readonly id: string;
  /** Absent once the environment is deleted. */
  readonly environment?: string;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly status: ScheduleStatus;
  readonly settledAt?: string;
  /** The change it made. */
  readonly seq?: number;
  /** Why it failed. */
  readonly error?: string;
}

/** The schedules of a project. Fetched again when one is due, because there may be no event if it fails. */
export function useSchedules(project: string) {
  return useQuery({
    queryKey: queryKeys.schedules(project),
    staleTime: 0,
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
  readonly confirmed?: string | undefined;
}

/** Creates a schedule. */
export function useCreateSchedule(project: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ schedule, text, confirmed }: SchedulePost) =>
      request<ScheduleRecord>('POST', api`projects/${project}/schedules`, {
        body: schedule,
        text,
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
