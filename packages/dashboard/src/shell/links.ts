/** The addresses of the screens. */
export const links = {
  flags: (project: string) => `/projects/${encodeURIComponent(project)}/flags`,
  flag: (project: string, key: string) =>
    `/projects/${encodeURIComponent(project)}/flags/${encodeURIComponent(key)}`,
  compare: (project: string) => `/projects/${encodeURIComponent(project)}/compare`,
  keys: (project: string) => `/projects/${encodeURIComponent(project)}/keys`,
  environments: (project: string) => `/projects/${encodeURIComponent(project)}/environments`,
  schedules: (project: string) => `/projects/${encodeURIComponent(project)}/schedules`,
  history: (project: string) => `/projects/${encodeURIComponent(project)}/history`,
  clients: (project: string) => `/projects/${encodeURIComponent(project)}/clients`,
  operators: '/operators',
  tokens: '/tokens',
  audit: '/audit',
  account: '/account',
} as const;

/** A project's screens in the order of the navigation. */
export const PROJECT_SCREENS = [
  { name: 'Flags', to: links.flags },
  { name: 'Compare', to: links.compare },
  { name: 'Schedules', to: links.schedules },
  { name: 'History', to: links.history },
  { name: 'Clients', to: links.clients },
  { name: 'Keys', to: links.keys },
  { name: 'Environments', to: links.environments },
] as const;
