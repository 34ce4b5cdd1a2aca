import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-keys.ts';
import { api, request } from './request.ts';
import type { EnvironmentClients } from './types.ts';

/** The streams that are open on a project's environments. */
export function useClients(project: string) {
  return useQuery({
    queryKey: queryKeys.clients(project),
    queryFn: ({ signal }) => fetchClients(project, signal),
    staleTime: 5_000,
  });
}

/** Asks for the open streams once. */
export async function fetchClients(
  project: string,
  signal?: AbortSignal,
): Promise<readonly EnvironmentClients[]> {
  const path = api`projects/${project}/clients`;
  return (await request<{ environments: readonly EnvironmentClients[] }>('GET', path, { signal }))
    .environments;
}
