import { api, request } from './request.ts';
import type { EnvironmentColor, EnvironmentRecord } from './types.ts';

/** What an environment looks like; what is absent stays. */
export interface EnvironmentLooks {
  readonly protected?: boolean;
  readonly color?: EnvironmentColor;
  readonly position?: number;
}

/** Makes an environment, empty, after the others. */
export function createEnvironment(
  project: string,
  environment: { readonly name: string } & Omit<EnvironmentLooks, 'position'>,
): Promise<EnvironmentRecord> {
  return request('POST', api`projects/${project}/environments`, { body: environment });
}

/** Changes what an environment looks like. To take its protection away it must be confirmed. */
export function updateEnvironment(
  project: string,
  environment: string,
  looks: EnvironmentLooks,
): Promise<EnvironmentRecord> {
  const path = api`projects/${project}/environments/${environment}`;
  return request('PATCH', path, { body: looks, confirmed: environment });
}

/** Removes an environment with its states; its streams are closed. The person has confirmed it by name. */
export function deleteEnvironment(project: string, environment: string): Promise<undefined> {
  const path = api`projects/${project}/environments/${environment}`;
  return request('DELETE', path, { confirmed: environment });
}
