import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { readingList } from './request.ts';
import type { SearchHit } from './types.ts';

const MOST = '12';

/** Searches all projects. Sends no request while the text is empty. */
export function useSearchHits(text: string) {
  return useQuery({
    queryKey: ['search', text],
    enabled: text !== '',
    placeholderData: keepPreviousData,
    queryFn: readingList<SearchHit>(
      `/api/search?${new URLSearchParams({ q: text, limit: MOST })}`,
      'results',
    ),
  });
}
