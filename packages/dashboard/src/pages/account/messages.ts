/** The texts of the screen "Account". */
export const messages = {
  title: 'Account',
  profile: 'You',
  name: 'Name',
  email: 'E-mail',
  role: 'Role',
  permissions: {
    viewer: 'You can see everything, but not change it.',
    editor: 'You can change flags, their states and schedules.',
    admin: 'Full access.',
  },
  withProtected: 'Protected environments too.',
  withoutProtected: 'Not in protected environments. An administrator can allow it.',

  appearance: 'Appearance',
  theme: 'Theme',
  themes: [
    ['system', 'System'],
    ['light', 'Light'],
    ['dark', 'Dark'],
  ],
  density: 'Rows of the flag table',
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

  signOut: 'Sign out',
  sessionEndsBefore: 'If you do nothing, this session ends ',
  signOutHint: 'To sign out in all other browsers, change your password.',
  signOutHere: 'Sign out here',
} as const;
