import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';

/** The keys of cached queries. A list and its records share a prefix. */
export const queryKeys = {
  session: ['session'],
  projects: ['projects'],
  project: (project: string) => ['project', project],
  flags: (project: string) => ['flags', project],
  archivedFlags: (project: string) => ['archived-flags', project],
  flag: (project: string, key: string) => ['flag', project, key],
  /** The JSON text of the named values of a flag. */
  namedValues: (project: string, key: string) => ['named-values', project, key],
  valueText: (project: string, environment: string, key: string, revision: number | undefined) => [
    'value-text',
    project,
    environment,
    key,
    revision,
  ],
  clients: (project: string) => ['clients', project],
  keys: (project: string) => ['keys', project],
  webhooks: (project: string) => ['webhooks', project],
  schedules: (project: string) => ['schedules', project],
  proposals: (project: string) => ['proposals', project],
  rollouts: (project: string) => ['rollouts', project],
  usage: (project: string) => ['usage', project],
  codeReferences: (project: string) => ['code-references', project],
  history: (project: string) => ['history', project],
  compare: (project: string) => ['compare', project],
  deliveries: (project: string) => ['deliveries', project],
  operators: ['operators'],
  invitations: ['invitations'],
  tokens: ['tokens'],
  relayTokens: ['relay-tokens'],
  audit: ['audit'],
} as const;

/** The cache of API responses. The live stream keeps it up to date, so nothing is fetched again automatically. */
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

/** A refusal is final; an unreachable or overloaded server may recover. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isTemporary = !(error instanceof ApiError) || error.status === 0 || error.status >= 500;
  return isTemporary && failures < 3;
}
