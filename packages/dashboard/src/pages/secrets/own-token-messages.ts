import { tokenTexts } from './messages.tsx';

/** The texts of "Your access tokens". */
export const messages = {
  ...tokenTexts,
  intro:
    'Your terminal signs in with one of your tokens. It can never do more than you can at that moment, and it ends when you leave.',
  createCommand: 'New personal access token',
  empty: 'You have none. Create one for each computer that you run the command line on.',
  list: 'Your access tokens',
  endsWithYou: 'ends with you',

  // A new token
  nameHint: "Where you use it, such as “Ada's laptop”. The audit log shows it next to each change.",
  role: 'What it can do',
  roleHint: 'In each project it can do no more than you can.',
  settingsTitle: 'Sign in on your computer: paste the token when this asks for it',
  settingsLabel: 'Command that signs in',
} as const;
