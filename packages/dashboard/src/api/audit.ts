import { useInfiniteQuery } from '@tanstack/react-query';
import { queryKeys } from './query-keys.ts';
import { request } from './request.ts';
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
  /** ISO 8601 with a zone. */
  readonly since?: string;
  readonly until?: string;
}

/** Entries of one page. */
const PAGE = 50;

/** The audit log, newest first, page after page; new deeds appear by themselves. */
export function useAudit(filter: AuditFilter, options: { readonly pageSize?: number } = {}) {
  const { pageSize = PAGE } = options;
  return useInfiniteQuery({
    queryKey: [...queryKeys.audit, filter, pageSize],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) => fetchPage(filter, { before: pageParam, pageSize, signal }),
    // A page ends with a whole change, so the next begins below its number.
    getNextPageParam: (page) => (page.length < pageSize ? undefined : page.at(-1)?.seq),
  });
}

/** The address of the list, or of its export with `format=ndjson`. */
export function auditPath(filter: AuditFilter, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filter, ...more }))
    if (value !== '') query.set(name, value);
  return `/api/audit?${query}`;
}

async function fetchPage(
  filter: AuditFilter,
  { before, pageSize, signal }: { before: number | undefined; pageSize: number; signal: AbortSignal },
): Promise<readonly AuditEntryRecord[]> {
  const place = before === undefined ? {} : { before: String(before) };
  const path = auditPath(filter, { limit: String(pageSize), ...place });
  return (await request<{ entries: readonly AuditEntryRecord[] }>('GET', path, { signal })).entries;
}
