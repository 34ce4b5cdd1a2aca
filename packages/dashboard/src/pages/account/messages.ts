/** The texts of the screen "Account". */
export const messages = {
  title: 'Account',
  profile: 'You',
  name: 'Name',
  email: 'E-mail',
  role: 'Role',
  permissions: {
    none: 'You have roles in single projects.',
    viewer: 'You can see everything, but not change it.',
    editor: 'You can change flags, their states and schedules.',
    admin: 'Full access.',
  },
  withProtected: 'Including protected environments.',
  withoutProtected: 'Except in protected environments. An administrator can change that.',

  roleFromGroups: (provider: string) => `Your role comes from your groups at ${provider}.`,

  appearance: 'Appearance',
  theme: 'Theme',
  themes: [
    ['system', 'System'],
    ['light', 'Light'],
    ['dark', 'Dark'],
  ],
  density: 'Row height in the flag table',
  densities: [
    ['comfortable', 'Comfortable'],
    ['compact', 'Compact'],
  ],
  singleKeys: 'Single-key shortcuts, such as n and j',
  singleKeyChoices: [
    ['on', 'On'],
    ['off', 'Off'],
  ],
  storedHere: 'Saved in this browser.',

  password: 'Password',
  currentPassword: 'Current password',
  currentMissing: 'Enter your current password.',
  currentWrong: "This isn't your current password. Enter it again.",
  newPassword: 'New password',
  changePassword: 'Change password',
  changeHint: 'This signs you out in all other browsers.',
  changed: 'Password changed',
  changedDetail: 'You are signed out in all other browsers.',

  tokens: 'Your access tokens',

  signOut: 'Sign out',
  sessionEndsBefore: 'Without activity, this session ends ',
  signOutHint: 'To sign out in all other browsers, change your password.',
  signOutHere: 'Sign out here',
} as const;
