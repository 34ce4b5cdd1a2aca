import { useEffect } from 'react';
import { Redirect, useSearch } from 'wouter';
import { useSession } from '../../api/session.ts';
import { resumeGuards } from '../../changes/change-guards.tsx';
import { AuthLayout, SetupNeeded } from './auth-layout.tsx';
import { messages } from './messages.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** The screen "Sign in". */
export function SignInPage() {
  const { data: session } = useSession();
  const target = returnPath(useSearch());
  // One person's "don't ask again" must not apply to the next person at this browser.
  useEffect(resumeGuards, []);
  if (session?.signedIn) return <Redirect to={target} replace />;
  if (session?.setupNeeded) return <SetupNeeded />;
  return (
    <AuthLayout title={messages.signInTitle} intro={target === '/' ? undefined : messages.signInReturn}>
      <SignInForm />
    </AuthLayout>
  );
}

/** The page to open after signing in: the one the person came from if it is on this server, else the first. */
function returnPath(search: string): string {
  const from = new URLSearchParams(search).get('from') ?? '/';
  // "//host" and "/\host" are addresses of other servers.
  return /^\/(?![/\\])/.test(from) ? from : '/';
}
