/** The texts of the screen "Keys". */
export const messages = {
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

  // Creating a key
  createTitle: 'New key',
  createAction: 'Create key',
  created: 'Key created',
  nameHint: 'The application that uses it, such as “website” or “worker”.',
  nameMissing: 'Enter a name.',
  environments: 'Environments',
  environmentsHint: 'The key can read only these. One environment per key is safest.',
  environmentMissing: 'Select at least one environment.',
  expiryHint: 'It works until you revoke it.',
  expiryMissing: 'Choose a date in the future.',

  // The new key
  secretTitle: (name: string) => `Your new key “${name}”`,
  secretKind: 'key',
  examplesFor: 'Show examples for',
  dotEnvTitle: 'In your application: .env',
  dotEnvLabel: 'Settings for .env',
  curlTitle: 'Connect from a terminal',
  curlLabel: 'curl command',
  waiting: 'Waiting for the first connection…',
  connected: 'Connected. Change a flag and watch it arrive.',

  // Revoking a key
  revoke: 'Revoke',
  revokeNamed: (name: string) => `Revoke ${name}`,
  revokeTitle: (name: string) => `Revoke ${name}?`,
  revokeAction: 'Revoke key',
  revokeBody: (lastFour: string, environments: readonly string[], streams: string) => (
    <>
      <p>
        The key <span className="font-mono text-xs">…{lastFour}</span> for {environments.join(', ')} stops
        working immediately. {streams} This can't be undone.
      </p>
      <p className="mt-2">Applications that still use it fall back to their defaults.</p>
    </>
  ),
  revoked: (name: string) => `Key “${name}” revoked`,
  revokeFailed: (name: string) => `Key “${name}” could not be revoked`,
} as const;
