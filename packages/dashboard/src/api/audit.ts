import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Wish } from './approvals.ts';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { AuditEntryRecord, Reverted } from './types.ts';

/** Which entries to list. Absent and empty members do not filter. */
export interface AuditFilter {
  readonly project?: string;
  readonly environment?: string;
  readonly target?: string;
  /** The full name, such as `operator:ada@example.com`. */
  readonly actor?: string;
  /** An action such as `flag.archived`, or a noun alone: `flag`. */
  readonly action?: string;
  /** Text in the target, the actor or the note. */
  readonly q?: string;
  /** ISO 8601 with a zone: not before this time. */
  readonly since?: string;
  /** Before this time. */
  readonly until?: string;
}

/** Entries of the first page. */
const PAGE = 50;

/** Entries of each older page: scripts make many, which share a line. */
const OLDER_PAGE = 200;

/** The part of the audit log that is loaded, newest first. */
interface LoadedLog {
  readonly entries: readonly AuditEntryRecord[];
  /** The cursor of what is older; `undefined` if nothing is. */
  readonly next: string | undefined;
}

/** Pages through the audit log, newest first. New entries are added on top; loaded ones are not read again. */
export function useAudit(filter: AuditFilter, options: { readonly pageSize?: number } = {}) {
  const { pageSize = PAGE } = options;
  const queries = useQueryClient();
  const queryKey = [...queryKeys.audit, filter, pageSize];
  const loaded = () => queries.getQueryData<LoadedLog>(queryKey);
  const newest = useQuery({
    queryKey,
    queryFn: ({ signal }) => readNewest({ filter, pageSize, signal, loaded }),
    // Entries never change, and structural sharing would copy every entry that has moved down.
    structuralSharing: false,
  });
  const older = useMutation({
    mutationFn: (cursor: string) => readSome(filter, { cursor, pageSize: Math.max(pageSize, OLDER_PAGE) }),
    onSuccess: (page, cursor) =>
      queries.setQueryData<LoadedLog>(queryKey, (log) =>
        log === undefined || log.next !== cursor
          ? log
          : { entries: [...log.entries, ...page.entries], next: page.next },
      ),
  });
  const { data, error, failureReason, isPending, refetch } = newest;
  const cursor = data?.next;

  return {
    entries: data?.entries,
    hasOlder: cursor !== undefined,
    loadOlder: () => {
      if (cursor !== undefined && !older.isPending) older.mutate(cursor);
    },
    isLoadingOlder: older.isPending,
    olderError: older.error,
    error,
    failureReason,
    isPending,
    refetch,
  };
}

/** The entries of change `seq`, newest first. */
export function useOneChange(seq: string) {
  return useQuery({
    queryKey: ['change', seq],
    queryFn: async ({ signal }) => {
      const path = api`changes/${seq}`;
      const change = await request<{ entries: readonly AuditEntryRecord[] }>('GET', path, { signal });
      return change.entries.toReversed();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What a change was about, such as the id of a key. */
export async function targetOfChange(seq: number): Promise<string> {
  const { entries } = await request<{ entries: readonly AuditEntryRecord[] }>('GET', api`changes/${seq}`);
  return entries[0]?.target ?? '';
}

/** Reads from the top down to the first loaded entry; at most as many entries as are loaded. */
async function readNewest({
  filter,
  pageSize,
  signal,
  loaded,
}: {
  readonly filter: AuditFilter;
  readonly pageSize: number;
  readonly signal: AbortSignal;
  readonly loaded: () => LoadedLog | undefined;
}): Promise<LoadedLog> {
  const read: AuditEntryRecord[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await readSome(filter, { cursor, pageSize, signal });
    cursor = page.next;
    // Read again after each page: loading older entries may have added to it.
    const log = loaded();
    const known = new Map(log?.entries.map((entry) => [entry.id, entry]));
    read.push(...page.entries.map((entry) => known.get(entry.id) ?? entry));
    if (cursor === undefined) return { entries: read, next: undefined };
    const last = read.at(-1);
    const place = log?.entries.findIndex(({ id }) => id === last?.id) ?? -1;
    if (log !== undefined && place !== -1)
      return { entries: [...read, ...log.entries.slice(place + 1)], next: log.next };
    if (log === undefined || read.length >= log.entries.length) return { entries: read, next: cursor };
  }
}

/** The URL of the list, or of its export with `format=ndjson`. */
export function auditPath(filter: AuditFilter, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filter, ...more }))
    if (value !== '') query.set(name, value);
  return `/api/audit?${query}`;
}

/** How many answers without any entry are followed: a search of the server ends early, and says where to continue. */
const MOST_EMPTY = 5;

/** Reads the page at a cursor; the next one that has entries, if it has none. */
async function readSome(
  filter: AuditFilter,
  { cursor, pageSize, signal }: { cursor: string | undefined; pageSize: number; signal?: AbortSignal },
): Promise<LoadedLog> {
  let next = cursor;
  for (let empty = 0; ; empty++) {
    const place = next === undefined ? {} : { cursor: next };
    const path = auditPath(filter, { limit: String(pageSize), ...place });
    const page = await request<{ entries: LoadedLog['entries']; next?: string }>('GET', path, { signal });
    next = page.next;
    if (page.entries.length > 0 || next === undefined || empty === MOST_EMPTY)
      return { entries: page.entries, next };
  }
}

/** How to revert. */
interface RevertOptions {
  /** Only preview the revert. */
  readonly dryRun?: boolean;
  /** Revert even if something has changed since. */
  readonly force?: boolean;
  /** The protected environments for which the person has confirmed it. */
  readonly confirmed?: readonly string[];
  readonly note?: string | undefined;
  readonly wish?: Wish | undefined;
}

/** Reverts a change, as a new change. Rejects with `revision_conflict` or `not_revertible`. */
export function revertChange(seq: number, options: RevertOptions = {}): Promise<Reverted> {
  const { dryRun = false, force = false, ...rest } = options;
  const path = `${api`changes/${seq}/revert`}${dryRun ? '?dryRun=true' : ''}`;
  return request('POST', path, { body: { force }, ...rest });
}
