import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { request } from './request.ts';
import type { SearchHit } from './types.ts';

const MOST = 12;

/** Searches all projects. Sends no request while the text is empty. */
export function useSearchHits(text: string) {
  return useQuery({
    queryKey: ['search', text],
    enabled: text !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ q: text, limit: String(MOST) });
      return (await request<{ results: readonly SearchHit[] }>('GET', `/api/search?${query}`, { signal }))
        .results;
    },
  });
}
