import { useRoute } from 'wouter';

/** The project of the address; `undefined` on screens that belong to none. */
export function useCurrentProject(): string | undefined {
  const [, params] = useRoute<{ project: string }>('/projects/:project/*');
  return params?.project;
}
