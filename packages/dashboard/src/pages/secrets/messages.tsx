import type { ReactNode } from 'react';

/** The texts of the filter above any list of secrets. */
export const listTexts = {
  status: 'Status',
  anyStatus: 'Any status',
  statuses: [
    ['active', 'Active'],
    ['expired', 'Expired'],
    ['revoked', 'Revoked'],
  ],
} as const;

/** What all screens of secrets say, about a kind of them. */
export type SecretTexts = ReturnType<typeof secretTexts>;

/** The texts of creating and revoking a secret. */
function secretTexts(kind: 'key' | 'token') {
  const Kind = kind === 'key' ? 'Key' : 'Token';
  return {
    secretKind: kind,
    createAction: `Create ${kind}`,
    created: `${Kind} created`,
    nameMissing: 'Enter a name.',
    expiryHint: 'It works until you revoke it.',
    expiryMissing: 'Choose a date in the future.',
    secretTitle: (name: string) => `Your new ${kind} “${name}”`,
    revoke: 'Revoke',
    revokeNamed: (name: string) => `Revoke ${name}`,
    revoking: (name: string) => ({
      title: `Revoke ${name}?`,
      action: `Revoke ${kind}`,
      done: `${Kind} “${name}” revoked`,
      failed: `${Kind} “${name}” could not be revoked`,
    }),
  };
}

/** The texts of the screen "Keys". */
export const keyTexts = {
  ...secretTexts('key'),
  title: 'Keys',
  intro:
    'Applications read flags with a key. Give each application its own, so that you can revoke one without affecting the others.',
  readOnly: 'Managing keys',
  create: 'New key',
  emptyTitle: 'No keys yet',
  empty: (
    <>
      Create a key and set it as <code className="font-mono text-xs text-ink">HALYARD_KEY</code> in your
      application's environment. The application can then read the flags of the environments that you select.
    </>
  ),

  // The list
  list: 'Keys',
  find: 'Find a key',
  columns: [
    { label: 'Key', sortKey: 'name' },
    { label: 'Status' },
    { label: 'Environments', sortKey: 'environments' },
    { label: 'Open streams' },
    { label: 'Last used', sortKey: 'lastUsedAt' },
    { label: 'Created', sortKey: 'createdAt' },
    { label: 'Expires', sortKey: 'expiresAt' },
    { label: 'Actions', isSilent: true },
  ],
  loading: '…',
  deletedEnvironment: (name: string) => `${name} (deleted)`,
  moreEnvironments: (count: number) => `and ${count} more`,
  revokeBody: (lastFour: string, environments: readonly string[], streams: string) => (
    <>
      <p>
        The key <span className="font-mono text-xs">…{lastFour}</span> for {environments.join(', ')} stops
        working immediately. {streams} This can't be undone.
      </p>
      <p className="mt-2">Applications that still use it fall back to their defaults.</p>
    </>
  ),

  // Replacing a key
  replace: 'Replace',
  replaceNamed: (name: string) => `Replace ${name}`,
  replaceTitle: (name: string) => `Replace ${name}`,
  replaceAction: 'Replace key',
  replaceBody: (environments: readonly string[]) =>
    `You get a new key with the same name, for ${environments.join(', ')}. Both keys work until the old one ends, so you can switch your application over without downtime.`,
  replaceLifetime: (old: string, made: string) =>
    `The old key expires on ${old} at the latest. The new one gets the same lifetime and expires on ${made}.`,
  replaceLost:
    'The new key was created, but the connection was lost before it could be shown. Revoke it, and replace the old key again.',
  oldKeyEnds: (lastFour: string) => `The old key …${lastFour} ends`,
  newStreams: (streams: string) => `new: ${streams}`,
  oldStreams: (lastFour: string, streams: string) => `old …${lastFour}: ${streams}`,
  streams: (count: number) => (count === 1 ? '1 stream' : `${count} streams`),
  ends: (when: ReactNode) => <>ends {when}</>,
  lastUsed: (when: ReactNode) => <>last used {when}</>,
  endNow: 'End now',
  endNamed: (name: string, lastFour: string) => `End now: the old key …${lastFour} of ${name}`,
  ending: (name: string) => ({
    title: `End the old key of ${name}?`,
    action: 'End old key',
    done: `Old key of “${name}” ended`,
    failed: `The old key of “${name}” could not be ended`,
  }),
  // A new key
  createTitle: 'New key',
  nameHint: 'The application that uses it, such as “website” or “worker”.',
  environments: 'Environments',
  environmentsHint: 'The key can read only these. One environment per key is safest.',
  environmentMissing: 'Select at least one environment.',
  examplesFor: 'Show examples for',
  dotEnvTitle: 'In your application: .env',
  dotEnvLabel: 'Settings for .env',
  curlTitle: 'Connect from a terminal',
  curlLabel: 'curl command',
  waiting: 'Waiting for the first connection…',
  connected: 'Connected. Change a flag and watch it arrive.',
} as const;

/** The texts of the screen "Access tokens". */
export const tokenTexts = {
  ...secretTexts('token'),
  title: 'Access tokens',
  intro:
    'Pipelines and machines manage this server with an access token. A token that you create here belongs to no person, so it keeps working when you leave. People create their own tokens under Account, and those end when they leave.',
  readOnly: 'Viewing and managing access tokens',
  createCommand: 'New access token',
  create: 'New token',
  emptyTitle: 'No access tokens yet',
  empty:
    'Create one for each pipeline or machine, with no more permissions than it needs. Applications that read flags use a project key instead.',

  // The list
  list: 'Access tokens',
  find: 'Find a token',
  columns: [
    { label: 'Token', sortKey: 'name' },
    { label: 'Status' },
    { label: 'Role', sortKey: 'role' },
    { label: 'Protected' },
    { label: 'Last used', sortKey: 'lastUsedAt' },
    { label: 'Created', sortKey: 'createdAt' },
    { label: 'Expires', sortKey: 'expiresAt' },
    { label: 'Actions', isSilent: true },
  ],
  ofPerson: (email: string) => `of ${email}, ends with them`,
  revokeBody: (lastUsed: ReactNode) => (
    <p>
      The token stops working immediately. This can't be undone.{' '}
      {lastUsed === undefined ? 'It was never used.' : <>It was last used {lastUsed}.</>}
    </p>
  ),

  // A new token
  createTitle: 'New access token',
  nameHint: 'Where it is used, such as “deploy pipeline”. The audit log shows it next to each change.',
  limit: 'Limit to a task',
  noLimit: 'No limit: all that its roles allow',
  limits: {
    plan: 'Read and plan imports',
    states: 'Read and set flag states',
    audit: 'Read the audit log, and nothing else',
  },
  limited: { plan: 'only plans', states: 'only flag states', audit: 'only the audit log' },
  exempt: 'exempt from approvals',
  settingsTitle: 'For the command line',
  settingsLabel: 'Settings for the command line',
} as const;

/** The texts of the screen "Relay tokens". */
export const relayTokenTexts = {
  ...secretTexts('token'),
  title: 'Relay tokens',
  intro:
    'A relay is a node without a database that follows this server, for example in another region. It identifies itself with a relay token.',
  readOnly: 'Viewing and managing relay tokens',
  createCommand: 'New relay token',
  create: 'New token',
  emptyTitle: 'No relay tokens yet',
  empty: 'Create one for each relay, with no more projects and environments than it needs.',

  // The list
  list: 'Relay tokens',
  find: 'Find a token',
  columns: [
    { label: 'Token', sortKey: 'name' },
    { label: 'Status' },
    { label: 'Projects' },
    { label: 'Environments' },
    { label: 'Last contact', sortKey: 'lastUsedAt' },
    { label: 'Created', sortKey: 'createdAt' },
    { label: 'Actions', isSilent: true },
  ],
  allProjects: 'all projects',
  noProject: 'none, they were deleted',
  allEnvironments: 'all environments',
  revokeBody: (lastContact: ReactNode) => (
    <p>
      Its relays lose their connection immediately and get no more changes. This can't be undone.{' '}
      {lastContact === undefined ? 'No relay has used it.' : <>The last contact was {lastContact}.</>}
    </p>
  ),

  // A new token
  createTitle: 'New relay token',
  nameHint: 'Where the relay runs, such as “frankfurt”.',
  projects: {
    legend: 'Projects',
    choices: { some: 'Only these projects', all: 'All projects, also future ones' },
    names: 'Names of projects',
    missing: 'Add at least one project.',
    words: {
      known: 'Projects',
      placeholder: 'Add a project',
      remove: (name: string) => `Remove the project ${name}`,
    },
  },
  environments: {
    legend: 'Environments',
    choices: { some: 'Only these environments', all: 'All environments, also future ones' },
    names: 'Names of environments',
    missing: 'Add at least one environment.',
    words: {
      known: 'Environments',
      placeholder: 'Add an environment',
      remove: (name: string) => `Remove the environment ${name}`,
    },
  },
  settingsTitle: 'For the relay',
  settingsLabel: 'Settings for the relay',
} as const;
