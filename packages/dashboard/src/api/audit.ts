import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { Json } from './types.ts';

/** One deed of the audit log. */
export interface AuditEntryRecord {
  readonly id: string;
  /** The row of the log it belongs to: an operation has one for each environment that it touched. */
  readonly seq: number;
  /** The number of the change it is part of; entries of one operation share it. */
  readonly operation: number;
  /** `operator:<e-mail>`, `token:<name>` or `system`. */
  readonly actor: string;
  readonly ip?: string;
  readonly note?: string;
  /** Noun and deed, as `flag.changed`. */
  readonly action: string;
  readonly project?: string;
  readonly environment?: string;
  /** The flag key, key id or name that was acted on. */
  readonly target: string;
  readonly before?: Json;
  readonly after?: Json;
  readonly at: string;
}

/** Which entries to list; what is absent or empty does not narrow the list. */
export interface AuditFilter {
  readonly project?: string;
  readonly environment?: string;
  readonly target?: string;
  /** The whole name, as `operator:ada@example.com`. */
  readonly actor?: string;
  /** A deed such as `flag.archived`, or a noun alone: `flag`. */
  readonly action?: string;
  /** Found in the target, the actor or the note. */
  readonly q?: string;
  /** ISO 8601 with a zone: not before this time. */
  readonly since?: string;
  /** Before this time. */
  readonly until?: string;
}

/** Entries of one page. */
const PAGE = 50;

/** As much of the audit log as was asked for, newest first. */
interface LoadedLog {
  readonly entries: readonly AuditEntryRecord[];
  /** Whether the log has no older entries. */
  readonly isWhole: boolean;
}

/** The audit log, newest first, page after page. New entries are put on top; what is loaded is not read again. */
export function useAudit(filter: AuditFilter, options: { readonly pageSize?: number } = {}) {
  const { pageSize = PAGE } = options;
  const queries = useQueryClient();
  const queryKey = [...queryKeys.audit, filter, pageSize];
  const loaded = () => queries.getQueryData<LoadedLog>(queryKey);
  const newest = useQuery({
    queryKey,
    queryFn: ({ signal }) => readNewest({ filter, pageSize, signal, loaded }),
    // Entries never change; comparing them place by place would copy every one that has moved down.
    structuralSharing: false,
  });
  const older = useMutation({
    mutationFn: (before: number) => readPage(filter, { before, pageSize }),
    onSuccess: (page, before) =>
      queries.setQueryData<LoadedLog>(queryKey, (log) =>
        log === undefined || log.entries.at(-1)?.seq !== before
          ? log
          : { entries: [...log.entries, ...page], isWhole: page.length < pageSize },
      ),
  });
  const { data, error, isPending, refetch } = newest;
  const last = data?.entries.at(-1);
  return {
    entries: data?.entries,
    hasOlder: data !== undefined && !data.isWhole,
    loadOlder: () => {
      // A page ends with a whole change, so the next begins below its number.
      if (last !== undefined && !older.isPending) older.mutate(last.seq);
    },
    isLoadingOlder: older.isPending,
    olderError: older.error,
    ...{ error, isPending, refetch },
  };
}

/** Reads from the top until it meets what is loaded already; at most as many entries as that. */
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
  for (;;) {
    const page = await readPage(filter, { before: read.at(-1)?.seq, pageSize, signal });
    // Asked for after each page: "older" may have added to it meanwhile.
    const log = loaded();
    const known = new Map(log?.entries.map((entry) => [entry.id, entry]));
    read.push(...page.map((entry) => known.get(entry.id) ?? entry));
    if (page.length < pageSize) return { entries: read, isWhole: true };
    const last = read.at(-1);
    const place = log?.entries.findIndex(({ id }) => id === last?.id) ?? -1;
    if (log !== undefined && place !== -1)
      return { entries: [...read, ...log.entries.slice(place + 1)], isWhole: log.isWhole };
    if (log === undefined || read.length >= log.entries.length) return { entries: read, isWhole: false };
  }
}

/** The address of the list, or of its export with `format=ndjson`. */
export function auditPath(filter: AuditFilter, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filter, ...more }))
    if (value !== '') query.set(name, value);
  return `/api/audit?${query}`;
}

async function readPage(
  filter: AuditFilter,
  { before, pageSize, signal }: { before: number | undefined; pageSize: number; signal?: AbortSignal },
): Promise<readonly AuditEntryRecord[]> {
  const place = before === undefined ? {} : { before: String(before) };
  const path = auditPath(filter, { limit: String(pageSize), ...place });
  return (await request<{ entries: readonly AuditEntryRecord[] }>('GET', path, { signal })).entries;
}

/** One thing that a revert puts back. */
export interface RevertDifference {
  /** With `key` a state; alone what the environment looks like. */
  readonly environment?: string;
  /** Alone the flag itself. */
  readonly key?: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** What a revert did, or would do. */
export interface Reverted {
  readonly seq?: number;
  readonly differences: readonly RevertDifference[];
}

/** How to revert. */
interface RevertOptions {
  /** Only say what would be done. */
  readonly dryRun?: boolean;
  /** Also where something has changed since. */
  readonly force?: boolean;
  /** The protected environments that the person has confirmed this for. */
  readonly confirmed?: readonly string[];
  readonly note?: string;
}

/** Puts back what a change changed, as a new change. Rejects with `revision_conflict` or `not_revertible`. */
export function revertChange(seq: number, options: RevertOptions = {}): Promise<Reverted> {
  const { dryRun = false, force = false, confirmed, note } = options;
  const path = `${api`changes/${seq}/revert`}${dryRun ? '?dryRun=true' : ''}`;
  return request('POST', path, { body: { force }, confirmed, note });
}
