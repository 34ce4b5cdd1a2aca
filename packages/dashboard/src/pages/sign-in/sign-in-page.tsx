import { useEffect } from 'react';
import { Redirect, useSearch } from 'wouter';
import { useSession } from '../../api/session.ts';
import { endQuiet } from '../../changes/quiet-time.ts';
import { Door } from './door.tsx';
import { SetupNeeded } from './setup-needed.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { wayBack } from './way-back.ts';

/** E-mail and password. */
export function SignInPage() {
  const { data: session } = useSession();
  const search = useSearch();
  const target = wayBack(search);
  // What one person asked for is not for the next one at this screen.
  useEffect(endQuiet, []);
  if (session?.signedIn) return <Redirect to={target} replace />;
  if (session?.setupNeeded) return <SetupNeeded />;
  return (
    <Door title="Sign in" intro={target === '/' ? undefined : 'Then you go on where you were.'}>
      <SignInForm />
    </Door>
  );
}
