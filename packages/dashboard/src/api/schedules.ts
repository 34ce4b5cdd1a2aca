import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { FlagState, Json } from './types.ts';

/** What becomes of a schedule. */
export type ScheduleStatus = 'pending' | 'done' | 'failed' | 'cancelled';

/** What happens to a state, beside what it is then. */
export interface StatePatch {
  readonly enabled?: boolean;
  readonly value?: Json;
  readonly rolloutPct?: number;
  readonly unset?: readonly ('value' | 'rolloutPct')[];
}

/** One step of a scheduled change: a whole state, none any more, or members of it. */
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

/** A change that is made by itself at its time. */
export interface ScheduleRecord extends Omit<NewSchedule, 'environment'> {
  readonly id: string;
  /** Absent once it is deleted. */
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

/** Every schedule of a project. Asked for again when one falls due, since nothing may announce its failure. */
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

/** How soon the next schedule has run, in milliseconds; `false` when none waits. */
function msToNextDue(schedules: readonly ScheduleRecord[], now: number): number | false {
  const dues = schedules.filter(({ status }) => status === 'pending').map(({ dueAt }) => Date.parse(dueAt));
  if (dues.length === 0) return false;
  return Math.min(LONGEST_MS, Math.max(1_000, Math.min(...dues) - now + 1_000));
}

/** A schedule to make. */
interface SchedulePost {
  readonly schedule: NewSchedule;
  /** The same as JSON text, where a value's notation must not change. */
  readonly text?: string | undefined;
  readonly confirmed?: string | undefined;
}

/** Makes a schedule. */
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

/** Cancels a schedule that waits. */
export function useCancelSchedule(project: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request<undefined>('DELETE', api`projects/${project}/schedules/${id}`),
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.schedules(project) }),
  });
}
