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

  // A session that has ended
  signInAgain: 'Sign in again',
  sessionEnded: 'Your session has ended. Sign in to continue; what you typed is kept.',
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
  invited: (role: string) => `You're invited with the role ${role.toLowerCase()}.`,
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
