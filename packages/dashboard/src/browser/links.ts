import { useRoute } from 'wouter';

/** The addresses of the screens. */
export const links = {
  flags: (project: string) => `/projects/${encodeURIComponent(project)}/flags`,
  flag: (project: string, key: string) =>
    `/projects/${encodeURIComponent(project)}/flags/${encodeURIComponent(key)}`,
  cleanUp: (project: string) => `/projects/${encodeURIComponent(project)}/clean-up`,
  compare: (project: string) => `/projects/${encodeURIComponent(project)}/compare`,
  keys: (project: string) => `/projects/${encodeURIComponent(project)}/keys`,
  environments: (project: string) => `/projects/${encodeURIComponent(project)}/environments`,
  projectSettings: (project: string) => `/projects/${encodeURIComponent(project)}/settings`,
  members: (project: string) => `/projects/${encodeURIComponent(project)}/members`,
  webhooks: (project: string) => `/projects/${encodeURIComponent(project)}/webhooks`,
  schedules: (project: string) => `/projects/${encodeURIComponent(project)}/schedules`,
  proposals: (project: string) => `/projects/${encodeURIComponent(project)}/proposals`,
  proposal: (project: string, id: string) =>
    `/projects/${encodeURIComponent(project)}/proposals/${encodeURIComponent(id)}`,
  history: (project: string) => `/projects/${encodeURIComponent(project)}/history`,
  /** Only change `seq`, in the history of its project or in the audit log. */
  change: (project: string | undefined, seq: number) =>
    `${project === undefined ? links.audit : links.history(project)}?change=${seq}`,
  clients: (project: string) => `/projects/${encodeURIComponent(project)}/clients`,
  projects: '/?projects',
  operators: '/operators',
  tokens: '/tokens',
  relayTokens: '/relay-tokens',
  audit: '/audit',
  installationWebhooks: '/webhooks',
  account: '/account',
  // Pages of the server, beside the dashboard.
  languages: '/docs/languages',
  siemGuide: '/docs/operations/siem',
  webhookGuide: '/docs/operations/webhooks#how-to-verify-a-message',
} as const;

/** A project's screens in the order of the navigation; `g` and then `key` goes there. */
export const PROJECT_SCREENS = [
  { name: 'Flags', key: 'f', to: links.flags },
  { name: 'Compare', key: 'c', to: links.compare },
  { name: 'Schedules', key: 's', to: links.schedules },
  { name: 'Proposals', key: 'p', to: links.proposals },
  { name: 'History', key: 'h', to: links.history },
  { name: 'Clients', key: 'l', to: links.clients },
  { name: 'Project settings', key: 't', to: links.projectSettings },
] as const;

/** The screens of a project's settings, after the one with the settings of the project itself. */
export const PROJECT_SETTINGS = [
  { name: 'Environments', key: 'e', to: links.environments, isForAdmins: false },
  { name: 'Keys', key: 'k', to: links.keys, isForAdmins: false },
  { name: 'Webhooks', key: 'w', to: links.webhooks, isForAdmins: true },
  { name: 'Members', key: 'm', to: links.members, isForAdmins: false },
] as const;

/** Whether the screen at a path belongs to a project's settings. */
export function isInProjectSettings(path: string): boolean {
  return /^\/projects\/[^/]+\/(settings|environments|keys|webhooks|members)$/.test(path);
}

/** The screens outside of projects, in the order of their navigation. */
export const SETTINGS_SCREENS = [
  { name: 'People', address: links.operators, isForAdmins: false },
  { name: 'Access tokens', address: links.tokens, isForAdmins: true },
  { name: 'Relay tokens', address: links.relayTokens, isForAdmins: true },
  { name: 'Audit log', address: links.audit, isForAdmins: false },
  { name: 'Audit webhooks', address: links.installationWebhooks, isForAdmins: true },
  { name: 'Projects', address: links.projects, isForAdmins: false },
  { name: 'Account', address: links.account, isForAdmins: false },
] as const;

/** Whether the screen at a path can be limited to one environment. */
export function hasEnvironmentFilter(path: string): boolean {
  return !/\/(environments|compare|webhooks|clean-up|settings|members|proposals.*)$/.test(path);
}

/** The project of the address; `undefined` on screens that belong to none. */
export function useCurrentProject(): string | undefined {
  const [, params] = useRoute<{ project: string }>('/projects/:project/*');
  return params?.project;
}
