import { useEffect } from 'react';
import { Redirect, useSearch } from 'wouter';
import { useSession } from '../../api/session.ts';
import { resumeGuards } from '../../changes/change-guards.tsx';
import { AuthLayout, SetupNeeded } from './auth-layout.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** E-mail and password. */
export function SignInPage() {
  const { data: session } = useSession();
  const search = useSearch();
  const target = returnPath(search);
  // What one person asked for is not for the next one at this screen.
  useEffect(resumeGuards, []);
  if (session?.signedIn) return <Redirect to={target} replace />;
  if (session?.setupNeeded) return <SetupNeeded />;
  return (
    <AuthLayout title="Sign in" intro={target === '/' ? undefined : 'Then you go on where you were.'}>
      <SignInForm />
    </AuthLayout>
  );
}

/** Where to go after signing in: to where the person came from, if that is on this server, or home. */
function returnPath(search: string): string {
  const from = new URLSearchParams(search).get('from') ?? '/';
  // "//host" and "/\host" are addresses of other servers.
  return /^\/(?![/\\])/.test(from) ? from : '/';
}
