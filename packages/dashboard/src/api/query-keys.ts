/** The names of what the cache holds. A list of records and what is in it share their beginning. */
export const queryKeys = {
  session: ['session'],
  projects: ['projects'],
  project: (project: string) => ['project', project],
  flags: (project: string) => ['flags', project],
  archivedFlags: (project: string) => ['archived-flags', project],
  flag: (project: string, key: string) => ['flag', project, key],
  clients: (project: string) => ['clients', project],
  keys: (project: string) => ['keys', project],
  schedules: (project: string) => ['schedules', project],
  history: (project: string) => ['history', project],
  compare: (project: string) => ['compare', project],
  deliveries: (project: string) => ['deliveries', project],
  operators: ['operators'],
  invitations: ['invitations'],
  tokens: ['tokens'],
  audit: ['audit'],
} as const;
