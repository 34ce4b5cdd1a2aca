import { type FormEvent, useId, useRef, useState } from 'react';
import { useOperator, useStartSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { RefusalNote } from '../../components/form.tsx';
import { PasswordField } from '../../components/password-field.tsx';
import { leaveAtOnce } from '../../shell/leave-guard.ts';

/** E-mail and password. `knownEmail` is filled in: the password is what is left to type. */
export function SignInForm({ knownEmail, onLeave }: { knownEmail?: string; onLeave?: () => void }) {
  const [email, setEmail] = useState(knownEmail ?? '');
  const [password, setPassword] = useState('');
  const enter = useStartSession<{ email: string; password: string }>('session');
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

/** Asks for the password over the screen, which stays as it is: with what was typed there. */
export function SessionEndedDialog() {
  const { email } = useOperator();
  const content = useRef<HTMLDivElement>(null);
  /** Without a session there is nothing to go back to. A second Escape closes it all the same: it is opened again. */
  function stay(): void {
    const dialog = content.current?.closest('dialog');
    if (dialog?.open === false) dialog.showModal();
  }
  function leave(): void {
    leaveAtOnce(`/sign-in?from=${encodeURIComponent(location.pathname + location.search)}`);
  }
  return (
    <Dialog title="Sign in again" frame="bare" className="max-w-sm" onClose={stay}>
      <div ref={content} className="p-6">
        <p className="text-lg font-semibold" aria-hidden>
          Sign in again
        </p>
        <p className="mt-1 mb-4 text-ink-2">
          Your session has ended. Sign in to go on; what you typed is kept.
        </p>
        <SignInForm knownEmail={email} onLeave={leave} />
      </div>
    </Dialog>
  );
}
