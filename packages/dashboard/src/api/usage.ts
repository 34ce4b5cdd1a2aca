import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queryKeys } from './query-cache.ts';
import { api, reading, request } from './request.ts';
import type { FlagRecord, FlagUsage, LastReads, ProjectRecord, RecentReads } from './types.ts';

/** Nodes store reads once a minute and send no event for it. */
const REFRESH_MS = 60_000;

/** The same for the reads of all flags, which are known to the hour. */
const LIST_REFRESH_MS = 5 * 60_000;

/** How long a flag goes without a read before it counts as unread, in milliseconds. */
const UNREAD_MS = 30 * 86_400_000;

type CountedProject = Pick<ProjectRecord, 'name' | 'usageSince'>;

/** How often a flag was read; nothing is fetched while the project does not count reads. */
export function useFlagUsage({ name, usageSince }: CountedProject, key: string) {
  return useQuery({
    queryKey: [...queryKeys.usage(name), key],
    enabled: usageSince !== undefined,
    queryFn: reading<FlagUsage>(api`projects/${name}/flags/${key}/usage`),
    refetchInterval: REFRESH_MS,
  });
}

/**
 * When the flags were last read in the environments of these names: the start of the hour (ISO 8601) by flag key. `undefined` while that
 * is not known, and in projects that do not count reads.
 */
export function useReadTimes(
  { name, usageSince }: CountedProject,
  environments: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const { data } = useReads(name, usageSince !== undefined);
  return useMemo(() => data && readTimes(data, environments), [data, environments]);
}

/** The last hour in which each flag was read in any of the environments. */
export function readTimes(
  { environments: reads }: LastReads,
  names: readonly string[],
): ReadonlyMap<string, string> {
  const times = new Map<string, string>();
  for (const [key, hour] of names.flatMap((name) => Object.entries(reads[name] ?? {})))
    if (hour > (times.get(key) ?? '')) times.set(key, hour);
  return times;
}

/** When the flags of a project were last read; nothing is fetched until it has counted reads for 30 days. */
export function useLastReads({ name, usageSince }: CountedProject) {
  return useReads(name, usageSince !== undefined && isLongAgo(usageSince, Date.now()));
}

/** Of how many flags one request may ask. */
const MOST_KEYS = 100;

/** The reads of a flag in the last 24 hours, by the hour. */
export type HoursOfReads = RecentReads['flags'][string];

/** How often these flags were read in the last 24 hours, by key; a flag that was not is missing, as is one of which it is not known yet. */
export function useRecentReads(
  { name, usageSince }: CountedProject,
  keys: readonly string[],
): ReadonlyMap<string, HoursOfReads> {
  const parts = Array.from({ length: Math.ceil(keys.length / MOST_KEYS) }, (_, index) =>
    keys.slice(index * MOST_KEYS, (index + 1) * MOST_KEYS),
  );
  return useQueries({
    queries: parts.map((part) => ({
      queryKey: [...queryKeys.usage(name), 'hours', part],
      enabled: usageSince !== undefined,
      queryFn: reading<RecentReads>(`${api`projects/${name}/usage/hours`}?keys=${part.join()}`),
      refetchInterval: LIST_REFRESH_MS,
    })),
    combine: allReads,
  });
}

function allReads(
  parts: readonly { readonly data: RecentReads | undefined }[],
): ReadonlyMap<string, HoursOfReads> {
  return new Map(parts.flatMap(({ data }) => Object.entries(data?.flags ?? {})));
}

/** Whether clients have reported reads of any flag of the project; nothing is fetched unless it `matters`. */
export function useHasReads({ name }: CountedProject, matters: boolean): boolean {
  const { data } = useReads(name, matters);
  return data !== undefined && Object.keys(data.lastReads).length > 0;
}

function useReads(project: string, isEnabled: boolean) {
  return useQuery({
    queryKey: queryKeys.usage(project),
    enabled: isEnabled,
    queryFn: reading<LastReads>(api`projects/${project}/usage`),
    refetchInterval: LIST_REFRESH_MS,
  });
}

/** When a flag was last read (ISO 8601). Flag keys are free: `constructor` is one, and every object has that. */
export function lastReadOf(key: string, { lastReads }: LastReads): string | undefined {
  return Object.hasOwn(lastReads, key) ? lastReads[key] : undefined;
}

/** Whether a flag has existed for 30 days and was not read in that time. `now` is epoch milliseconds. */
export function isUnread({ key, createdAt }: FlagRecord, lastReads: LastReads, now: number): boolean {
  const readAt = lastReadOf(key, lastReads);
  return isLongAgo(createdAt, now) && (readAt === undefined || isLongAgo(readAt, now));
}

function isLongAgo(at: string, now: number): boolean {
  return now - Date.parse(at) >= UNREAD_MS;
}

/** Turns the counting of reads in a project on or off. */
export function switchUsage(project: string, usage: boolean): Promise<ProjectRecord> {
  return request('PATCH', api`projects/${project}`, { body: { usage } });
}
