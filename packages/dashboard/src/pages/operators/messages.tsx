import type { ReactNode } from 'react';

/** The texts of the screen "People". */
export const messages = {
  find: 'Find a person',
  withProject: 'People of a project',
  anyProject: 'Any project',
  title: 'People',
  intro:
    "People who sign in to this dashboard. Halyard doesn't send e-mail, so you share each invitation link yourself.",
  readOnly: 'Managing people',
  createCommand: 'Invite someone',
  create: 'Invite',

  // The list
  list: 'People',
  columns: [
    { label: 'Person', sortKey: 'name' },
    { label: 'Role', sortKey: 'role' },
    { label: 'Protected' },
    { label: 'Last seen', sortKey: 'lastSeenAt' },
    { label: 'Joined', sortKey: 'createdAt' },
    { label: 'Actions', isSilent: true },
  ],
  sso: 'SSO',
  edit: 'Edit',
  editPerson: (name: string) => `Edit ${name}`,
  more: (name: string) => `More for ${name}`,
  resetPassword: 'Reset password',
  remove: 'Remove',
  onlyAdmin: (name: string) => `${name} is the only administrator. Make someone else an administrator first.`,

  // Inviting
  inviteTitle: 'Invite someone',
  inviteAction: 'Create invitation',
  email: 'E-mail',
  emailHint: "They sign in with it. It can't be changed later.",
  emailInvalid: 'Enter an e-mail address, such as ada@example.com.',

  // Editing
  nameMissing: 'Enter a name.',
  save: 'Save',
  saved: (name: string) => `${name} updated`,
  roleFromGroups: (provider: string) => `The role comes from this person's groups at ${provider}.`,
  signsYouOut: 'You stay signed in here and are signed out in other browsers.',
  signsThemOut: 'They are signed out everywhere. Their new permissions apply when they sign in again.',

  // Removing
  removing: (name: string, email: string, isSelf: boolean) => ({
    title: isSelf ? 'Remove yourself?' : `Remove ${name}?`,
    body: (
      <p>
        {isSelf ? 'You are' : `${email} is`} signed out everywhere immediately and can't sign in again. Past
        changes stay in the audit log.
      </p>
    ),
    action: isSelf ? 'Remove myself' : `Remove ${name}`,
    done: `${name} removed`,
    failed: `${name} could not be removed`,
  }),
  // What a person has
  holdings: 'Show what they have',
  holdingsOf: (name: string) => `What ${name} has`,
  ends: 'Ends with a removal',
  nothingEnds: 'Nothing but the account.',
  stays: 'Stays',
  nothingStays: 'Nothing.',
  signedIn: (when: ReactNode) => <>Signed in {when}</>,
  lastUsed: (when: ReactNode) => <>last used {when}</>,
  neverUsed: 'never used',
  noNote: 'No note',
  place: (project: string, environment: string) => `${project} · ${environment}`,
  kinds: {
    sessions: 'Sessions',
    ownTokens: 'Access tokens of their own',
    links: 'Open links that they created',
    schedules: 'Schedules, which are canceled',
    plans: 'Rollout plans, which are paused',
    proposals: 'Proposals, which are withdrawn',
    tokens: 'Access tokens that they created and may know',
    keys: 'Project keys that they created and may know',
    flags: 'Flags that name them as the owner',
  },

  // Resetting a password
  resetting: (name: string, email: string) => ({
    title: `Reset the password of ${name}?`,
    body: (
      <p>
        This creates a link for {email} that works once, within a day. The current password works until the
        link is used; then all their sessions end.
      </p>
    ),
    action: 'Create link',
    done: `Link for ${name} created`,
    failed: `The link for ${name} could not be created`,
  }),
  // A new link
  secretKind: 'link',
  linkLost:
    'The link was created, but the connection was lost before it could be shown. Revoke it under “Open links”, and create another one.',
  inviteLinkTitle: 'Invitation link',
  resetLinkTitle: 'Password reset link',
  sendPrivately: (email: string, expires: ReactNode) => (
    <p className="mt-3 text-ink-2">
      Send it privately to <strong className="font-medium wrap-anywhere text-ink">{email}</strong>: anyone who
      opens it can set the password. It works once and expires {expires}.
    </p>
  ),

  // Open links
  links: 'Open links',
  noLinks:
    'No open links. Invitations and password reset links are listed here until they are used or expire.',
  linkColumns: [
    { label: 'For' },
    { label: 'Kind' },
    { label: 'Role' },
    { label: 'Protected' },
    { label: 'Created by' },
    { label: 'Expires' },
    { label: 'Actions', isSilent: true },
  ],
  linkKinds: { setup: 'Setup', invite: 'Invitation', reset: 'Password reset' },
  firstAdmin: 'the first administrator',
  revoke: 'Revoke',
  revokeLink: (email: string) => `Revoke the link for ${email}`,
  linkRevoked: (email: string) => `Link for ${email} revoked`,
  revokeFailed: (email: string) => `The link for ${email} could not be revoked`,
} as const;
