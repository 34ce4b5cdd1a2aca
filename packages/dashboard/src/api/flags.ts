import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { putFlag, readFlag, readFlags } from './flag-cache.ts';
import { useLiveConnection } from './live.tsx';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { FlagRecord, FlagState } from './types.ts';

/**
 * Every flag of a project that is not archived, with its states. Kept new by the stream: it is read once, after the
 * stream has opened.
 */
export function useFlags(project: string) {
  const live = useLiveConnection();
  return useQuery({
    queryKey: queryKeys.flags(project),
    enabled: live !== undefined,
    staleTime: Infinity,
    // Ten thousand records: comparing each with its former self costs more than drawing the few on the screen.
    structuralSharing: false,
    queryFn: ({ signal }) => readFlags({ project, live, signal }),
  });
}

/** The archived flags of a project. */
export function useArchivedFlags(project: string, options: { readonly enabled: boolean }) {
  return useQuery({
    queryKey: queryKeys.archivedFlags(project),
    enabled: options.enabled,
    queryFn: async ({ signal }) => {
      const path = `${api`projects/${project}/flags`}?archived=true`;
      return (await request<{ flags: readonly FlagRecord[] }>('GET', path, { signal })).flags;
    },
  });
}

/** One flag with its states in every environment. What the list knows of it is shown meanwhile. */
export function useFlag(project: string, key: string) {
  const queries = useQueryClient();
  const live = useLiveConnection();
  return useQuery({
    queryKey: queryKeys.flag(project, key),
    queryFn: ({ signal }) => readFlag(key, { project, live, signal }),
    enabled: live !== undefined,
    // A write is taken back by the identity of the record that it showed, which a shared copy would not have.
    structuralSharing: false,
    placeholderData: () =>
      queries.getQueryData<readonly FlagRecord[]>(queryKeys.flags(project))?.find((flag) => flag.key === key),
  });
}

/** What a new flag is made of. */
export interface NewFlag {
  readonly key: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly owner?: string;
  readonly states: Readonly<Record<string, FlagState>>;
}

/** Makes a flag with its first states. `confirmed` names the protected environments among them. */
export function useCreateFlag(project: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ flag, confirmed }: { flag: NewFlag; confirmed: readonly string[] }) =>
      request<FlagRecord>('POST', api`projects/${project}/flags`, { body: flag, confirmed }),
    onSuccess: (flag) => putFlag(queries, project, flag),
  });
}

/** What became of one flag. */
export interface ArchiveResult {
  readonly key: string;
  readonly archived?: true;
  /** The error's code where it was refused. */
  readonly error?: string;
  readonly message?: string;
}

/** As many are archived with one request, so that a long run shows how far it is. */
const AT_ONCE = 25;

/** Archives flags and gives what became of them, some at a time. Rejects when a whole request is refused. */
export async function* archiveFlags(
  project: string,
  keys: readonly string[],
  confirmed: readonly string[],
): AsyncGenerator<readonly ArchiveResult[]> {
  for (let start = 0; start < keys.length; start += AT_ONCE) {
    const body = { keys: keys.slice(start, start + AT_ONCE) };
    const path = api`projects/${project}/flags/archive`;
    yield (await request<{ results: readonly ArchiveResult[] }>('POST', path, { body, confirmed })).results;
  }
}

/** As many are restored at the same time: each is a request, and a change, of its own. */
const RESTORED_AT_ONCE = 4;

/** Puts archived flags back into use. Gives each as it is then; one that was refused has its error instead. */
export async function restoreFlags(
  project: string,
  keys: readonly string[],
  confirmed: readonly string[],
): Promise<readonly PromiseSettledResult<FlagRecord>[]> {
  const results: PromiseSettledResult<FlagRecord>[] = [];
  for (let start = 0; start < keys.length; start += RESTORED_AT_ONCE) {
    const some = keys.slice(start, start + RESTORED_AT_ONCE);
    const requests = some.map((key) =>
      request<FlagRecord>('POST', api`projects/${project}/flags/${key}/restore`, { confirmed }),
    );
    results.push(...(await Promise.allSettled(requests)));
  }
  return results;
}
