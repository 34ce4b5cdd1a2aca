import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { EnvironmentColor, EnvironmentRecord, ProjectRecord, ProjectSummary } from './types.ts';

/** Every project, by name. */
export function useProjects() {
  return useQuery({
    queryKey: queryKeys.projects,
    queryFn: async ({ signal }) =>
      (await request<{ projects: readonly ProjectSummary[] }>('GET', api`projects`, { signal })).projects,
  });
}

/** One project with its environments, in their order; nothing is asked for an empty name. */
export function useProject(project: string) {
  return useQuery({
    queryKey: queryKeys.project(project),
    enabled: project !== '',
    queryFn: ({ signal }) => request<ProjectRecord>('GET', api`projects/${project}`, { signal }),
  });
}

const NONE: readonly EnvironmentRecord[] = [];

/** The environments of a project that is on the screen; none while it is being loaded. */
export function useEnvironments(project: string): readonly EnvironmentRecord[] {
  return useProject(project).data?.environments ?? NONE;
}

/** Makes a project with its three first environments. */
export function useCreateProject() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => request<ProjectRecord>('POST', api`projects`, { body: { name } }),
    onSuccess: (project) => {
      queries.setQueryData(queryKeys.project(project.name), project);
      return queries.invalidateQueries({ queryKey: queryKeys.projects });
    },
  });
}

/** Removes a project with everything in it. `confirmed` names its protected environments. */
export function deleteProject(project: string, confirmed: readonly string[]): Promise<undefined> {
  return request('DELETE', api`projects/${project}`, { confirmed });
}

/** What an environment looks like; what is absent stays. */
interface EnvironmentAppearance {
  readonly protected?: boolean;
  readonly color?: EnvironmentColor;
  readonly position?: number;
}

/** Makes an environment, empty, after the others. */
export function createEnvironment(
  project: string,
  environment: { readonly name: string } & Omit<EnvironmentAppearance, 'position'>,
): Promise<EnvironmentRecord> {
  return request('POST', api`projects/${project}/environments`, { body: environment });
}

/** Changes what an environment looks like. To take its protection away it must be confirmed. */
export function updateEnvironment(
  project: string,
  environment: string,
  appearance: EnvironmentAppearance,
): Promise<EnvironmentRecord> {
  const path = api`projects/${project}/environments/${environment}`;
  return request('PATCH', path, { body: appearance, confirmed: environment });
}

/** Removes an environment with its states; its streams are closed. The person has confirmed it by name. */
export function deleteEnvironment(project: string, environment: string): Promise<undefined> {
  const path = api`projects/${project}/environments/${environment}`;
  return request('DELETE', path, { confirmed: environment });
}
