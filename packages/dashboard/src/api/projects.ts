import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Wanted } from './approvals.ts';
import { queryKeys } from './query-cache.ts';
import { api, reading, readingList, request } from './request.ts';
import type {
  EnvironmentColor,
  EnvironmentRecord,
  ProjectOverview,
  ProjectRecord,
  ProjectSummary,
} from './types.ts';

/** Every project, by name. */
export function useProjects() {
  return useQuery({
    queryKey: queryKeys.projects,
    queryFn: readingList<ProjectSummary>(api`projects`, 'projects'),
  });
}

/** How often the figures of all projects are read: streams come and go without an event. In milliseconds. */
const OVERVIEW_MS = 20_000;

/** Every project with its figures, by name. */
export function useOverview() {
  return useQuery({
    // Read again with the list of projects.
    queryKey: [...queryKeys.projects, 'overview'],
    queryFn: readingList<ProjectOverview>(api`overview`, 'projects'),
    staleTime: 0,
    refetchInterval: OVERVIEW_MS,
  });
}

/** One project with its environments in their order. Fetches nothing for an empty name. */
export function useProject(project: string) {
  return useQuery({ ...projectQuery(project), enabled: project !== '' });
}

/** How one project is read. */
export function projectQuery(project: string) {
  return queryOptions({
    queryKey: queryKeys.project(project),
    queryFn: reading<ProjectRecord>(api`projects/${project}`),
  });
}

const NONE: readonly EnvironmentRecord[] = [];

/** The environments of the project on the screen; empty while it is loading. */
export function useEnvironments(project: string): readonly EnvironmentRecord[] {
  return useProject(project).data?.environments ?? NONE;
}

/** Whether other people must approve changes of an environment. */
export function requiresApprovals({ approvals }: EnvironmentRecord): boolean {
  return approvals > 0;
}

/** Creates a project with three environments. */
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

/** Deletes a project with everything in it. `confirmed` names its protected environments. */
export function deleteProject(
  project: string,
  options: Wanted & { readonly confirmed: readonly string[] },
): Promise<undefined> {
  return request('DELETE', api`projects/${project}`, options);
}

/** Changes to an environment's appearance and to what guards it; absent members are kept. */
interface EnvironmentAppearance {
  readonly protected?: boolean;
  /** How many other people must approve a change. */
  readonly approvals?: number;
  /** Whether every editor may turn flags off in an emergency. */
  readonly emergencyOff?: boolean;
  readonly reasonRequired?: boolean;
  readonly color?: EnvironmentColor;
  readonly position?: number;
}

/** Creates an empty environment, after the others. */
export function createEnvironment(
  project: string,
  environment: { readonly name: string } & Pick<EnvironmentAppearance, 'color' | 'protected'>,
): Promise<EnvironmentRecord> {
  return request('POST', api`projects/${project}/environments`, { body: environment });
}

/** Changes an environment. Loosening what guards it must be confirmed, and approved where it requires that. */
export function updateEnvironment(
  project: string,
  environment: string,
  appearance: EnvironmentAppearance,
  wanted?: Wanted,
): Promise<EnvironmentRecord> {
  const path = api`projects/${project}/environments/${environment}`;
  return request('PATCH', path, { body: appearance, confirmed: environment, ...wanted });
}

/** Deletes an environment with its states and closes its streams. The person has confirmed it by name. */
export function deleteEnvironment(project: string, environment: string, wanted: Wanted): Promise<undefined> {
  const path = api`projects/${project}/environments/${environment}`;
  return request('DELETE', path, { confirmed: environment, ...wanted });
}
