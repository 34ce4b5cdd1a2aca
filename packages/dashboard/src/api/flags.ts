import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { isProposed } from './api-error.ts';
import type { Wanted } from './approvals.ts';
import { isWhole, putFlag, readFlag, readFlags } from './flag-cache.ts';
import { useLiveConnection } from './live.tsx';
import { queryKeys } from './query-cache.ts';
import { api, readingList, request } from './request.ts';
import type { ArchiveResult, FlagRecord, FlagState, FlagValueKind } from './types.ts';

/**
 * The unarchived flags of a project with their states. They are read once, when the stream is open, and the stream
 * keeps them up to date.
 */
export function useFlags(project: string) {
  const live = useLiveConnection();
  return useQuery({
    queryKey: queryKeys.flags(project),
    enabled: live !== undefined,
    staleTime: Infinity,
    // With ten thousand records, structural sharing costs more than rendering the few on the screen.
    structuralSharing: false,
    queryFn: ({ signal }) => readFlags({ project, live, signal }),
  });
}

/** The archived flags of a project. */
export function useArchivedFlags(project: string, options: { readonly enabled: boolean }) {
  return useQuery({
    queryKey: queryKeys.archivedFlags(project),
    enabled: options.enabled,
    queryFn: readingList<FlagRecord>(
      `${api`projects/${project}/flags`}?archived=true&values=preview`,
      'flags',
    ),
  });
}

/** One flag with its states in every environment. The list's record is shown while it loads, unless values are cut there. */
export function useFlag(project: string, key: string, { enabled = true } = {}) {
  const queries = useQueryClient();
  const live = useLiveConnection();
  return useQuery({
    queryKey: queryKeys.flag(project, key),
    queryFn: ({ signal }) => readFlag(key, queries, { project, live, signal }),
    enabled: enabled && live !== undefined,
    placeholderData: () =>
      queries
        .getQueryData<readonly FlagRecord[]>(queryKeys.flags(project))
        ?.find((flag) => flag.key === key && isWhole(flag)),
  });
}

/** The input for a new flag. */
export interface NewFlag {
  readonly key: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly owner?: string;
  readonly valueKind?: FlagValueKind;
  readonly states: Readonly<Record<string, FlagState>>;
}

/** Creates a flag with its initial states. `confirmed` names the protected environments among them. */
export function useCreateFlag(project: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({
      flag,
      ...rest
    }: Wanted & {
      flag: NewFlag;
      confirmed: readonly string[];
    }) => request<FlagRecord>('POST', api`projects/${project}/flags`, { body: flag, ...rest }),
    onSuccess: (flag) => putFlag(queries, project, flag),
  });
}

/** The texts of a flag, without its states. */
export type FlagTexts = Partial<
  Pick<FlagRecord, 'description' | 'tags' | 'owner' | 'permanent' | 'valueKind'>
>;

/** Changes the texts of a flag. Rejects with the refusal. */
export function changeFlagTexts(project: string, key: string, texts: FlagTexts): Promise<FlagRecord> {
  return request('PATCH', api`projects/${project}/flags/${key}`, { body: texts });
}

/** A flag whose archiving was proposed. */
export interface ArchiveProposed {
  readonly key: string;
  readonly proposed: true;
}

/** How many flags one request archives: small enough that a long run shows its progress. */
const AT_ONCE = 25;

/**
 * Archives flags and yields the results batch by batch. Rejects if a whole request is refused. `wish` is for those that need
 * approval: the server refuses it for others.
 */
export async function* archiveFlags(
  project: string,
  keys: readonly string[],
  {
    confirmed,
    needApproval,
    ...wanted
  }: Wanted & { readonly confirmed: readonly string[]; readonly needApproval: ReadonlySet<string> },
): AsyncGenerator<readonly (ArchiveResult | ArchiveProposed)[]> {
  const isSingle = (key: string) => wanted.wish !== undefined && needApproval.has(key);

  // Each is a proposal or an emergency, so that people decide about each.
  for (const key of keys.filter(isSingle)) {
    const path = api`projects/${project}/flags/${key}/archive`;
    try {
      await request<FlagRecord>('POST', path, { confirmed, ...wanted });
      yield [{ key, archived: true }];
    } catch (error) {
      if (!isProposed(error)) throw error;
      yield [{ key, proposed: true }];
    }
  }

  const others = keys.filter((key) => !isSingle(key));
  for (let start = 0; start < others.length; start += AT_ONCE) {
    const body = { keys: others.slice(start, start + AT_ONCE) };
    const path = api`projects/${project}/flags/archive`;
    const options = { body, confirmed, note: wanted.note };
    yield (await request<{ results: readonly ArchiveResult[] }>('POST', path, options)).results;
  }
}

/** How many flags are restored at the same time: each is a separate request and change. */
const RESTORED_AT_ONCE = 4;

/** Restores archived flags. Returns each flag, or the error if it was refused. */
export async function restoreFlags(
  project: string,
  keys: readonly string[],
  options: { readonly confirmed: readonly string[]; readonly note: string | undefined },
): Promise<readonly PromiseSettledResult<FlagRecord>[]> {
  const results: PromiseSettledResult<FlagRecord>[] = [];
  for (let start = 0; start < keys.length; start += RESTORED_AT_ONCE) {
    const some = keys.slice(start, start + RESTORED_AT_ONCE);
    const requests = some.map((key) =>
      request<FlagRecord>('POST', api`projects/${project}/flags/${key}/restore`, options),
    );
    results.push(...(await Promise.allSettled(requests)));
  }
  return results;
}
