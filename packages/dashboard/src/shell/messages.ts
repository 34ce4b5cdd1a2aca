/** The texts around the screens: the header, the command palette, and what appears when a screen fails. */
export const messages = {
  header: {
    skip: 'Skip to content',
    project: 'Project:',
    selectProject: 'Select a project',
    projects: 'Projects',
    allProjects: 'All projects',
    newProject: 'New project',
    navigation: 'Project',
    settings: 'Settings',
    environment: 'Environment filter',
    allEnvironments: 'All environments',
  },

  create: {
    title: 'Create',
    flag: 'New flag',
    schedule: 'New schedule',
    key: 'New key',
    environment: 'New environment',
    project: 'New project',
    invitation: 'Invite someone',
    token: 'New access token',
  },

  help: {
    title: 'Help',
    api: 'API reference',
    languages: 'Connect an application',
    version: (version: string, commit: string | undefined) =>
      `Halyard ${version}${commit === undefined ? '' : ` · ${commit}`}`,
  },

  connection: {
    open: ['Live', 'Changes by others appear here at once'],
    connecting: ['Connecting', 'Connecting to the server'],
    lost: ['Offline', 'No connection. This page may be out of date. Reconnecting…'],
    paused: ['Paused', 'Updates paused while this tab was hidden'],
  },

  user: {
    account: 'Account',
    people: 'People',
    tokens: 'Access tokens',
    relayTokens: 'Relay tokens',
    audit: 'Audit log',
    documentation: 'Documentation',
    theme: 'Theme',
    themes: { light: 'Light', dark: 'Dark', system: 'System' },
    signOut: 'Sign out',
    signOutFailed: 'Not signed out',
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

  palette: {
    title: 'Commands',
    hint: 'Search or jump to…',
    results: 'Results',
    noMatch: (text: string) => `Nothing matches “${text}”.`,
    keys: { select: 'select', run: 'run', close: 'Esc close', all: '? shortcuts' },
    groups: {
      flags: 'Flags',
      change: 'Change',
      create: 'Create',
      goTo: 'Go to',
      projects: 'Projects',
      settings: 'Settings',
      everywhere: 'Everywhere',
    },
    turn: (enabled: boolean, key: string, environment: string) =>
      `Turn ${enabled ? 'on' : 'off'} ${key} in ${environment}`,
    copyKey: (key: string) => `Copy key ${key}`,
    copied: (key: string) => `Copied ${key}`,
    createFlag: (key: string) => `Create flag ${key}`,
    newFlag: 'New flag',
    themes: { light: 'Use light theme', dark: 'Use dark theme', system: 'Use system theme' },
    shortcuts: 'Keyboard shortcuts',
    foundFlag: (key: string, project: string) => `${key} in ${project}`,
    foundEnvironment: (environment: string, project: string) => `Environment ${environment} in ${project}`,
    foundKey: (name: string, project: string) => `Project key ${name} in ${project}`,
  },

  keyboard: {
    title: 'Keyboard shortcuts',
    singleKeys: 'Single-key shortcuts',
    everywhere: 'Everywhere',
    showKeys: 'Show these shortcuts',
    search: 'Search the list',
    create: 'Create a flag or a schedule',
    escape: 'Close, or clear the search',
    table: 'Flag table',
    next: 'Next flag',
    previous: 'Previous flag',
    left: 'Environment to the left',
    right: 'Environment to the right',
    flip: 'Flip the focused switch',
    open: 'Open the flag',
    goTo: 'Go to',
  },
} as const;
