import type { ReactNode } from 'react';

/** The texts of the screen "Access tokens". */
export const messages = {
  title: 'Access tokens',
  intro:
    'The command line and pipelines manage this server with an access token. A token belongs to no person, so it keeps working when its creator leaves.',
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

  // Creating a token
  createTitle: 'New access token',
  createAction: 'Create token',
  created: 'Token created',
  nameHint: 'Where it is used, such as “deploy pipeline”. The audit log shows it next to each change.',
  nameMissing: 'Enter a name.',
  limit: 'Limit to a task',
  noLimit: 'No limit: all that its roles allow',
  limits: { plan: 'Read and plan imports', states: 'Read and set flag states' },
  limited: { plan: 'only plans', states: 'only flag states' },
  expiryHint: 'It works until you revoke it.',
  expiryMissing: 'Choose a date in the future.',

  // The new token
  secretTitle: (name: string) => `Your new token “${name}”`,
  secretKind: 'token',
  settingsTitle: 'For the command line',
  settingsLabel: 'Settings for the command line',

  // Revoking a token
  revoke: 'Revoke',
  revokeNamed: (name: string) => `Revoke ${name}`,
  revokeTitle: (name: string) => `Revoke ${name}?`,
  revokeAction: 'Revoke token',
  revokeBody: (lastUsed: ReactNode) => (
    <p>
      The token stops working immediately. This can't be undone.{' '}
      {lastUsed === undefined ? 'It was never used.' : <>It was last used {lastUsed}.</>}
    </p>
  ),
  revoked: (name: string) => `Token “${name}” revoked`,
  revokeFailed: (name: string) => `Token “${name}” could not be revoked`,
} as const;
