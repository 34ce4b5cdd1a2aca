/** The sentences of the design system. */
export const messages = {
  copied: 'Copied',
  becomes: 'becomes',
  copyBlocked: "This browser doesn't let the page copy. Select the text and copy it.",
  noResults: 'No matches',
  found: (count: number, total: number) => `${count} of ${total}`,
  filters: 'Filters',
  filtersSet: 'Filters, some are set',
  clear: 'Clear',
  showMore: (count: number) => `Show ${count} more`,
  findOption: 'Find',
  clearSelection: 'Clear selection',
  selectionActions: 'Actions on what is selected',
  people: 'People and teams',
  you: 'you',
  changeNumber: (seq: number) => `Change ${seq}`,
  andMoreFlags: 'and more',
  reads: { lastHour: 'last hour', never: 'never' },
  typeToConfirm: (name: string) => `Type ${name} to confirm`,
  useSlug: 'Use',
  typeExactly: (name: string) => `Type “${name}” exactly.`,

  tags: {
    known: 'Known tags',
    placeholder: 'Add a tag',
    remove: (tag: string) => `Remove tag ${tag}`,
  },

  leave: { title: 'Leave without saving?', action: 'Leave' },

  failure: {
    missing: 'This screen could not be loaded',
    missingWhy: "The server can't be reached, or was upgraded after this page was opened.",
    broken: 'Something went wrong',
    brokenWhy:
      'This is a bug in Halyard, not something you did. Reload the page. If it happens again, please report this:',
    report: 'What to report',
    reload: 'Reload the page',
  },

  triedAgain: 'The server does not answer. Trying again…',

  environmentFilter: 'Environment filter',
  allEnvironments: 'All environments',
  signOutFailed: 'Not signed out',

  checking: 'The connection was lost. Checking whether it was saved…',
  close: 'Close',

  lostSecret: {
    ofKind: (kind: string) =>
      `The ${kind} was created, but the connection was lost before it could be shown. Revoke it, and create another one.`,
    revoke: 'Revoke it',
    revoked: 'Revoked',
    revokeFailed: 'It could not be revoked',
  },

  secret: {
    leave: (what: string) => `The ${what} is shown only once. Without a copy you have to create a new one.`,
    warning: (what: string) => `Copy the ${what} now. It is shown only once and can't be recovered.`,
    copy: (what: string) => `Copy ${what}`,
    saveFirst: (what: string) => `Save the ${what} before closing.`,
    done: "Done, I've saved it",
  },

  password: {
    capsLock: 'Caps Lock is on.',
    show: 'Show characters',
    hide: 'Hide characters',
    rule: (least: number) => `At least ${least} characters. A short phrase works best.`,
    missing: 'Enter a password.',
    tooShort: (missing: number) =>
      `Too short: add ${missing} more ${missing === 1 ? 'character' : 'characters'}.`,
    isEmail: "Don't use your e-mail address.",
  },

  roles: {
    viewer: "Can see everything, but can't change anything.",
    editor: 'Can change flags, their states and schedules.',
    admin: 'Can also manage projects, environments, keys, tokens and people.',
  },
  where: 'Where?',
  places: { some: 'Only in these projects', all: 'In all projects' },
  roleForAll: 'Role in all projects',
  projectRoles: 'Projects',
  higherRoles: 'Roles in single projects',
  projectRolesHint: 'In a project, the higher of the two roles applies.',
  selectProjects: 'Select projects',
  projectCount: (count: number) => (count === 1 ? '1 project' : `${count} projects`),
  roleIn: (project: string) => `Role in ${project}`,
  roleNamed: (role: string, project: string) => `${role} in ${project}`,
  alsoProtected: ' · protected',
  editorOfProtected: 'Editor, also of protected environments',
  noRights: 'Select at least one project.',
  canChangeProtected: 'Can change protected environments',
  protectedAccess: { yes: 'Can change', no: 'View only', some: 'In some projects' },
  protectedHints: {
    admin: 'Administrators always can.',
    editor: 'Such as production. Changes in the dashboard must be confirmed.',
  },

  expiry: {
    label: 'Expires',
    never: 'Never',
    day: 'In 1 day',
    days: (days: number) => `In ${days} days`,
    year: 'In a year',
    date: 'On a date…',
    dateLabel: 'Expiry date',
    past: 'Choose a date in the future.',
  },
} as const;
