import { useQuery } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, readingList, request } from './request.ts';
import type { PublicationRecord } from './types.ts';

/** How often it is read how far nodes have come with publishing, in milliseconds: the live stream does not say. */
const LOOK_MS = 5_000;

/** The published environments of a project. They are stale whenever the project's environments are. */
export function usePublications(project: string) {
  return useQuery({
    queryKey: [...queryKeys.project(project), 'publications'],
    queryFn: readingList<PublicationRecord>(api`projects/${project}/publications`, 'publications'),
    refetchInterval: ({ state }) => (state.data?.length ? LOOK_MS : false),
  });
}

/** Publishes an environment. The person has confirmed that its flags need no key from now on. */
export function publishEnvironment(project: string, environment: string): Promise<unknown> {
  const path = api`projects/${project}/environments/${environment}/publication`;
  return request('PUT', path, { body: { withoutKey: true }, confirmed: environment });
}

/** Stops publishing an environment, whose files are removed. */
export function withdrawEnvironment(project: string, environment: string): Promise<unknown> {
  const path = api`projects/${project}/environments/${environment}/publication`;
  return request('DELETE', path, { confirmed: environment });
}
