import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';

/** The cache of what the API answered. The live stream keeps it new, so nothing is asked for again by itself. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        gcTime: 10 * 60_000,
        refetchOnWindowFocus: false,
        retry: isWorthRetrying,
      },
      mutations: { retry: false },
    },
  });
}

/** A refusal stays one; a server that is away or overloaded may be back. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isTemporary = !(error instanceof ApiError) || error.status === 0 || error.status >= 500;
  return isTemporary && failures < 3;
}
