import { tokenTexts } from './messages.tsx';

/** The texts of "Your access tokens". */
export const messages = {
  ...tokenTexts,
  intro:
    'Your terminal signs in with a token of yours. It never does more than you may at that moment, and it ends when you leave.',
  createCommand: 'New personal access token',
  empty: 'You have none. Create one for each computer that you run the command line on.',
  list: 'Your access tokens',
  endsWithYou: 'ends with you',

  // A new token
  nameHint: "Where you use it, such as “Ada's laptop”. The audit log shows it next to each change.",
  role: 'What it may do',
  roleHint: 'In each project it may do no more than you.',
  settingsTitle: 'Sign in on your computer: paste the token when this asks for it',
  settingsLabel: 'Command that signs in',
} as const;
