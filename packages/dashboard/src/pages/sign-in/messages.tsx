import type { SsoProblem } from '../../api/types.ts';
import { LOCALE } from '../../components/time-ago.tsx';

const code = (text: string) => <code className="font-mono text-xs text-ink">{text}</code>;

/** The texts of the screens before signing in. */
export const messages = {
  // Signing in
  signInTitle: 'Sign in',
  signInReturn: "You'll return to the page you were on.",
  email: 'E-mail',
  password: 'Password',
  signIn: 'Sign in',
  signingIn: 'Signing in…',
  forgotPassword: 'No account, or forgot your password? Ask an administrator for a link.',

  // Single sign-on
  signInWith: (provider: string) => `Sign in with ${provider}`,
  or: 'or',
  ssoFirst:
    'There are no accounts yet. Yours is created when you sign in, with the role of your groups. The link that the server printed also works.',
  ssoProblems: {
    unavailable: (provider) => `${provider} can't be reached right now. Try again in a moment.`,
    denied: (provider) => `${provider} didn't sign you in. Try again, or ask who manages it.`,
    invalid: (provider) =>
      `The response from ${provider} could not be verified. Try again, or ask an administrator to check the log.`,
    expired: () => 'This sign-in took too long, or was started in another window. Try again.',
    no_role: (provider) =>
      `None of your groups at ${provider} has access to Halyard. Ask an administrator to add you to one.`,
    no_email: (provider) => `${provider} did not share your e-mail address. Ask an administrator.`,
    email_unverified: (provider) =>
      `Your e-mail address is not verified at ${provider}. Verify it there, then try again.`,
    email_domain: () => 'E-mail addresses of your domain cannot sign in here.',
    email_taken: () =>
      'Another account has your e-mail address. Ask an administrator to remove it if it is an old one of yours.',
    failed: () => 'The server could not sign you in. Try again in a moment.',
  } satisfies Record<SsoProblem, (provider: string) => string>,

  // A session that has ended
  signInAgain: 'Sign in again',
  sessionEnded: 'Your session has ended. Sign in to continue; what you typed is kept.',
  sessionEndedSso: 'Your session has ended. Sign in in a new tab, then come back: what you typed is kept.',
  leave: 'Leave',

  // A new account
  emailInvalid: 'Enter an e-mail address, such as ada@example.com.',
  name: 'Your name',
  nameHint: 'Shown next to your changes.',
  nameMissing: 'Enter your name.',
  createAccount: 'Create account',

  // The first administrator
  setupTitle: 'Set up Halyard',
  setupIntro: 'Create the first administrator account.',
  setupNeededTitle: 'Welcome to Halyard',
  setupNeeded: 'There are no accounts yet. The first administrator needs a one-time link.',
  setupLinkExpired: 'This link is no longer valid: the server has since printed a newer one.',
  setupSteps: [
    <>
      In the terminal where Halyard was started, open the link that contains {code('/setup#')}. It works once.
    </>,
    <>Lost it? Restart the server to print a new one.</>,
    <>
      Running in a container? Run {code('halyard operator invite you@example.com --role admin')} inside it to
      print a link.
    </>,
  ],
  setupBySettings: (
    <>
      Or start the server with <code className="font-mono">HALYARD_ADMIN_EMAIL</code> and{' '}
      <code className="font-mono">HALYARD_ADMIN_PASSWORD</code> to create the first account.
    </>
  ),

  // An invitation, or a password reset
  joinTitle: 'Join Halyard',
  invited: (role: string | undefined, projects: readonly (readonly [role: string, project: string])[]) => {
    const roles = projects.map(([each, project]) => `${each.toLowerCase()} in ${project}`);
    const all = [...(role === undefined ? [] : [role.toLowerCase()]), ...roles];
    return `You're invited as ${new Intl.ListFormat(LOCALE).format(all)}.`;
  },
  resetTitle: 'Choose a new password',
  resetIntro: 'Setting it signs you out in all other browsers.',
  setPassword: 'Set password',
  signedInAsOther: (other: string, email: string | undefined) =>
    `This browser is signed in as ${other} and will switch to ${email}.`,
  linkInvalidTitle: 'This link does not work',
  linkInvalid: (isIncomplete: boolean) =>
    `It may have expired, been revoked or already been used${isIncomplete ? ', or it was copied incompletely' : ''}. Ask an administrator for a new one.`,
  haveAccount: ' if you have an account.',
  linkUnavailableTitle: "This link couldn't be checked",
  retry: 'Try again',
} as const;
