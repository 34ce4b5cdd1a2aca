/** The texts around the screens. */
export const messages = {
  header: {
    skip: 'Skip to content',
    project: 'Project:',
    selectProject: 'Select a project',
    projects: 'Projects',
    allProjects: 'All projects',
    navigation: 'Project',
    settings: 'Settings',
  },

  create: {
    title: 'Create',
    nouns: {
      flag: 'New flag',
      schedule: 'New schedule',
      key: 'New key',
      environment: 'New environment',
      webhook: 'New webhook',
      project: 'New project',
      operator: 'Invite someone',
      token: 'New access token',
      'relay-token': 'New relay token',
    },
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
    documentation: 'Documentation',
    theme: 'Theme',
    themes: { light: 'Light', dark: 'Dark', system: 'System' },
    signOut: 'Sign out',
  },

  palette: { title: 'Commands', hint: 'Search or jump to…', shortcuts: 'Keyboard shortcuts' },

  singleKeys: 'Single-key shortcuts',
} as const;
