import { type FormEvent, useId, useState } from 'react';
import { useEnter } from '../../api/session.ts';
import { RefusalNote } from '../../changes/refusal-note.tsx';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { PasswordField } from '../../components/password-field.tsx';

/** E-mail and password. `knownEmail` is filled in: the password is what is left to type. */
export function SignInForm({ knownEmail, onLeave }: { knownEmail?: string; onLeave?: () => void }) {
  const [email, setEmail] = useState(knownEmail ?? '');
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
            autoFocus={knownEmail === undefined}
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
        focus={knownEmail === undefined ? 'later' : 'first'}
        {...refusal}
      />
      <div id={errorId} className="empty:hidden">
        <RefusalNote error={enter.error} />
      </div>
      <div className="flex flex-wrap gap-2">
        {onLeave !== undefined && <Button onClick={onLeave}>Leave</Button>}
        <Button type="submit" kind="primary" className="flex-1" disabled={enter.isPending}>
          {enter.isPending ? 'Signing in …' : 'Sign in'}
        </Button>
      </div>
      <p className="text-xs text-ink-3">
        No account, or a forgotten password? An administrator can make a link for you.
      </p>
    </form>
  );
}
