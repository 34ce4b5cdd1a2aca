import { type FormEvent, useState } from 'react';
import { Redirect, useSearch } from 'wouter';
import { messageOf } from '../../api/api-error.ts';
import { useEnter, useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Field, FormError } from '../../components/field.tsx';
import { Door } from './door.tsx';
import { SetupNeeded } from './setup-needed.tsx';
import { wayBack } from './way-back.ts';

/** E-mail and password. */
export function SignInPage() {
  const { data: session } = useSession();
  const search = useSearch();
  if (session?.signedIn) return <Redirect to={wayBack(search)} replace />;
  if (session?.setupNeeded) return <SetupNeeded />;
  return (
    <Door title="Sign in">
      <SignInForm />
    </Door>
  );
}

function SignInForm() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const enter = useEnter<{ email: string; password: string }>('session');
  function submit(event: FormEvent): void {
    event.preventDefault();
    enter.mutate({ email, password });
  }
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <Field label="E-mail">
        {(props) => (
          <input
            {...props}
            type="email"
            autoComplete="username"
            required
            // biome-ignore lint/a11y/noAutofocus: the only thing to do on this screen
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label="Password">
        {(props) => (
          <input
            {...props}
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      {enter.error && <FormError>{messageOf(enter.error)}</FormError>}
      <Button type="submit" kind="primary" disabled={enter.isPending}>
        {enter.isPending ? 'Signing in …' : 'Sign in'}
      </Button>
      <p className="text-xs text-ink-3">
        No account, or a forgotten password? An administrator can send you a link.
      </p>
    </form>
  );
}
