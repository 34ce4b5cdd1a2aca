import type { ReactNode } from 'react';

/** The texts of the screen "Project settings". */
export const messages = {
  title: 'Project settings',
  readOnly: 'Changing the settings of a project',
  exportTitle: 'Export',
  exportHint:
    'All flags with their states, as a document for “halyard import” or for a repository. Keys and webhooks are not in it.',
  exportAs: (format: string) => `Export as ${format}`,
  danger: 'Danger',

  // The project
  project: (name: string) => `Project ${name}`,
  projectCreated: (when: ReactNode) => <>Created {when}. The name is part of URLs and can't be changed.</>,
  countReads: 'Count how often each flag is read',
  countReadsHint:
    'Clients then report counts once a minute: how often a flag was on, and how often off. No targeting keys.',
  readsCounted: 'Reads are counted',
  readsNotCounted: 'Reads are no longer counted',
  countReadsFailed: 'The counting of reads could not be changed',
  deleteProjectHint:
    "Deletes all environments, flags and keys, with their schedules and rollout plans. This can't be undone.",
  deleteProject: 'Delete project',
  deleting: (name: string, environments: readonly string[], streams: string) => ({
    what: `delete ${name}`,
    title: `Delete project ${name}?`,
    body: (
      <p>
        This permanently deletes{' '}
        {environments.length === 0 ? '' : `the environments ${environments.join(', ')}, `}all flags and keys,
        and all schedules and rollout plans. {streams} This can't be undone.
      </p>
    ),
    action: 'Delete project',
    done: `Project ${name} deleted`,
    failed: `Project ${name} could not be deleted`,
  }),
} as const;

/** The texts of the screen "Members". */
export const memberTexts = {
  title: 'Members',
  intro: 'People who have a role in this project: a role here, or one for all projects.',
  readOnly: 'Inviting people and changing their roles',
  create: 'Invite to this project',
  createCommand: 'Invite someone to this project',
  list: 'Members',
  find: 'Find a member',
  anyRole: 'Any role',
  columns: [
    { label: 'Person' },
    { label: 'Role here' },
    { label: 'Because of' },
    { label: 'Protected environments' },
    { label: 'Actions', isSilent: true },
  ],
  here: 'a role in this project',
  everywhere: 'a role for all projects',
  edit: 'Edit',
  editPerson: (name: string) => `Edit ${name}`,
  yes: 'yes',
  no: 'no',
} as const;
