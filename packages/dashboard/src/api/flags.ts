import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { putFlag } from './flag-cache.ts';
import { useLiveConnection } from './live.tsx';
import { queryKeys } from './query-keys.ts';
import { readFlag, readFlags } from './read-flags.ts';
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
