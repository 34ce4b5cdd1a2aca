import { type FormEvent, useId, useState } from 'react';
import { Redirect, useSearch } from 'wouter';
import { useEnter, useSession } from '../../api/session.ts';
import { RefusalNote } from '../../changes/refusal-note.tsx';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { PasswordField } from '../../components/password-field.tsx';
import { Door } from './door.tsx';
import { SetupNeeded } from './setup-needed.tsx';
import { wayBack } from './way-back.ts';

/** E-mail and password. */
export function SignInPage() {
  const { data: session } = useSession();
  const search = useSearch();
  const target = wayBack(search);
  if (session?.signedIn) return <Redirect to={target} replace />;
  if (session?.setupNeeded) return <SetupNeeded />;
  return (
    <Door title="Sign in" intro={target === '/' ? undefined : 'Then you go on where you were.'}>
      <SignInForm />
    </Door>
  );
}

function SignInForm() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const enter = useEnter<{ email: string; password: string }>('session');
  const errorId = useId();
  const refusal = enter.error === null ? {} : { errorId };
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    enter.mutate(
      { email, password },
      {
        onError: () =>
          form.querySelector<HTMLInputElement>('input[autocomplete="current-password"]')?.select(),
      },
    );
  }
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <Field label="E-mail">
        {(control) => (
          <input
            {...control}
            {...(enter.error !== null && { 'aria-describedby': errorId, 'aria-invalid': true })}
            name="email"
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
      <PasswordField
        label="Password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        {...refusal}
      />
      <div id={errorId} className="empty:hidden">
        <RefusalNote error={enter.error} />
      </div>
      <Button type="submit" kind="primary" disabled={enter.isPending}>
        {enter.isPending ? 'Signing in …' : 'Sign in'}
      </Button>
      <p className="text-xs text-ink-3">
        No account, or a forgotten password? An administrator can make a link for you.
      </p>
    </form>
  );
}
