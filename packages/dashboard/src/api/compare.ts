import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Wanted } from './approvals.ts';
import { queryKeys } from './query-cache.ts';
import { api, reading, request } from './request.ts';
import type { Comparison, Copied } from './types.ts';

/** Compares `to` with `from`; the stream keeps the result up to date. */
export function useComparison(project: string, { from, to }: { from: string; to: string }) {
  return useQuery({
    queryKey: [...queryKeys.compare(project), from, to],
    enabled: from !== '' && to !== '' && from !== to,
    placeholderData: keepPreviousData,
    staleTime: 0,
    queryFn: reading<Comparison>(`${api`projects/${project}/compare`}?${new URLSearchParams({ from, to })}`),
  });
}

/** The flags to copy from one environment to another. */
interface CopyPlace {
  readonly project: string;
  readonly from: string;
  readonly to: string;
  readonly keys: readonly string[];
}

/** Previews a copy. Flags that are not set in `from` are removed from `to`. */
export function previewCopy(place: CopyPlace, signal: AbortSignal): Promise<Copied> {
  return request('POST', `${pathOf(place)}?dryRun=true`, { body: bodyOf(place), signal });
}

/** Copies as one change. Rejects with `revision_conflict` if either environment has changed since it was `seen`. */
export function copyStates(
  place: CopyPlace,
  options: Wanted & {
    readonly seen: Pick<Copied, 'revision' | 'fromRevision'>;
    readonly confirmed?: string | undefined;
  },
): Promise<Copied> {
  const { seen, ...rest } = options;
  const body = { ...bodyOf(place), fromRevision: seen.fromRevision };
  return request('POST', pathOf(place), { body, seen: seen.revision, ...rest });
}

function pathOf({ project, to }: CopyPlace): string {
  return api`projects/${project}/environments/${to}/copy`;
}

/** Names every flag, so that only selected flags are removed. */
function bodyOf({ from, keys }: CopyPlace) {
  return { from, keys, deletes: true };
}
