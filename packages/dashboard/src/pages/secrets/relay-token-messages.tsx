import type { ReactNode } from 'react';
import { messages as accessTokens } from './token-messages.tsx';

/** The texts of the screen "Relay tokens": those of access tokens, and its own. */
export const messages = {
  ...accessTokens,
  title: 'Relay tokens',
  intro:
    'A relay is a node without a database that follows this server, for example in another region. It identifies itself with a relay token.',
  readOnly: 'Viewing and managing relay tokens',
  createCommand: 'New relay token',
  emptyTitle: 'No relay tokens yet',
  empty: 'Create one for each relay, with no more projects and environments than it needs.',

  // The list
  list: 'Relay tokens',
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

  // Creating a token
  createTitle: 'New relay token',
  nameHint: 'Where the relay runs, such as “frankfurt”.',
  projects: 'Projects',
  projectsHint: 'Names separated by commas. Leave empty for all projects, future ones included.',
  environments: 'Environments',
  environmentsHint: 'Names separated by commas. Leave empty for all environments, future ones included.',
  namesMissing: 'Enter a name, or leave it empty for all.',

  // The new token
  settingsTitle: 'For the relay',
  settingsLabel: 'Settings for the relay',

  // Revoking a token
  revokeBody: (lastContact: ReactNode) => (
    <p>
      Its relays lose their connection immediately and get no more changes. This can't be undone.{' '}
      {lastContact === undefined ? 'No relay has used it.' : <>The last contact was {lastContact}.</>}
    </p>
  ),
} as const;
