import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { FlagState } from './types.ts';

/** A flag whose state is another in two environments; absent where it has none. */
export interface StateDifference {
  readonly key: string;
  readonly from?: FlagState;
  readonly to?: FlagState;
}

/** How two environments differ. */
export interface Comparison {
  readonly from: { readonly environment: string; readonly revision: number };
  readonly to: { readonly environment: string; readonly revision: number };
  readonly differences: readonly StateDifference[];
}

/** Asks how `to` differs from `from`; kept new by the stream. */
export function useComparison(project: string, { from, to }: { from: string; to: string }) {
  return useQuery({
    queryKey: [...queryKeys.compare(project), from, to],
    enabled: from !== '' && to !== '' && from !== to,
    placeholderData: keepPreviousData,
    staleTime: 0,
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ from, to });
      return request<Comparison>('GET', `${api`projects/${project}/compare`}?${query}`, { signal });
    },
  });
}

/** What is copied from one environment to another. */
interface CopyPlace {
  readonly project: string;
  readonly from: string;
  readonly to: string;
  readonly keys: readonly string[];
}

/** What a copy did, or would do. */
export interface Copied {
  readonly environment: string;
  readonly revision: number;
  /** The revision of the environment that it is copied from. */
  readonly fromRevision: number;
  readonly changed: readonly string[];
  readonly seq?: number;
  readonly differences: readonly {
    readonly key: string;
    readonly before?: FlagState;
    readonly after?: FlagState;
  }[];
}

/** What a copy would change at this moment. Flags that `from` does not have are removed. */
export function previewCopy(place: CopyPlace, signal: AbortSignal): Promise<Copied> {
  return request('POST', `${pathOf(place)}?dryRun=true`, { body: bodyOf(place), signal });
}

/** Copies as one change. Rejects with `revision_conflict` when either environment is not as it was `seen` any more. */
export function copyStates(
  place: CopyPlace,
  options: {
    readonly seen: Pick<Copied, 'revision' | 'fromRevision'>;
    readonly confirmed?: string | undefined;
    readonly note?: string | undefined;
  },
): Promise<Copied> {
  const { seen, ...rest } = options;
  const body = { ...bodyOf(place), fromRevision: seen.fromRevision };
  return request('POST', pathOf(place), { body, seen: seen.revision, ...rest });
}

function pathOf({ project, to }: CopyPlace): string {
  return api`projects/${project}/environments/${to}/copy`;
}

/** Every flag is named one by one, so that what is removed was chosen as well. */
function bodyOf({ from, keys }: CopyPlace) {
  return { from, keys, deletes: true };
}
