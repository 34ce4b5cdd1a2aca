import { useId, useRef, useState } from 'react';
import { useOperator, useSso, useStartSession } from '../../api/session.ts';
import { leaveAtOnce } from '../../browser/leave-guard.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { RefusalNote, useForm } from '../../components/form.tsx';
import { PasswordField } from '../../components/password-field.tsx';
import { messages } from './messages.tsx';

/** Where a browser signs in with the identity provider, and then returns to `from`. */
export function ssoAddress({ url }: { readonly url: string }, from: string): string {
  return from === '/' ? url : `${url}?from=${encodeURIComponent(from)}`;
}

/** Asks for e-mail and password. `knownEmail` is filled in, which leaves the password to type. */
export function SignInForm({
  knownEmail,
  onLeave,
  onTry,
  isSecondChoice = false,
}: {
  knownEmail?: string;
  onLeave?: () => void;
  /** Called each time that the form is sent. */
  onTry?: () => void;
  /** Whether another way to sign in is above it. */
  isSecondChoice?: boolean;
}) {
  const [email, setEmail] = useState(knownEmail ?? '');
  const [password, setPassword] = useState('');
  const start = useStartSession<{ email: string; password: string }>('session');
  const errorId = useId();
  const form = useForm({
    submit: () => {
      onTry?.();
      return start.mutateAsync({ email, password }).catch((error: unknown) => {
        form.props.ref.current
          ?.querySelector<HTMLInputElement>('input[autocomplete="current-password"]')
          ?.select();
        throw error;
      });
    },
  });
  const isRefused = form.error !== undefined;

  return (
    <form className="flex flex-col gap-4" {...form.props} noValidate={false}>
      <TextField
        label={messages.email}
        {...(isRefused && { 'aria-describedby': errorId, 'aria-invalid': true })}
        name="email"
        type="email"
        autoComplete="username"
        required
        autoFocus={knownEmail === undefined && !isSecondChoice}
        value={email}
        onChange={setEmail}
      />
      <PasswordField
        label={messages.password}
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        focus={knownEmail === undefined ? 'later' : 'first'}
        {...(isRefused ? { errorId } : {})}
      />
      <div id={errorId} className="empty:hidden">
        <RefusalNote error={form.error} />
      </div>
      <div className="flex flex-wrap gap-2">
        {onLeave !== undefined && <Button onClick={onLeave}>{messages.leave}</Button>}
        <Button
          type="submit"
          kind={isSecondChoice ? 'plain' : 'primary'}
          className="flex-1"
          disabled={form.isBusy}
        >
          {form.isBusy ? messages.signingIn : messages.signIn}
        </Button>
      </div>
      <p className="text-xs text-ink-3">{messages.forgotPassword}</p>
    </form>
  );
}

/** Asks for the password over the screen, which keeps what was typed. */
export function SessionEndedDialog() {
  const { email, signIn } = useOperator();
  const sso = useSso();
  const usesSso = sso !== undefined && (signIn === 'sso' || sso.only);
  const content = useRef<HTMLDivElement>(null);

  /** A browser closes a native dialog on the second Escape; without a session there is nothing to return to. */
  function stay(): void {
    const dialog = content.current?.closest('dialog');
    if (dialog?.open === false) dialog.showModal();
  }

  function leave(): void {
    leaveAtOnce(`/sign-in?from=${encodeURIComponent(location.pathname + location.search)}`);
  }

  return (
    <Dialog title={messages.signInAgain} frame="bare" className="max-w-sm" onClose={stay}>
      <div ref={content} className="p-6">
        <p className="text-lg font-semibold" aria-hidden>
          {messages.signInAgain}
        </p>
        <p className="mt-1 mb-4 text-ink-2">{usesSso ? messages.sessionEndedSso : messages.sessionEnded}</p>
        {usesSso ? (
          <div className="flex flex-wrap gap-2">
            <Button onClick={leave}>{messages.leave}</Button>
            <Button
              kind="primary"
              className="flex-1"
              data-autofocus
              onClick={() => open(ssoAddress(sso, '/'), '_blank', 'noopener')}
            >
              {messages.signInWith(sso.label)}
            </Button>
          </div>
        ) : (
          <SignInForm knownEmail={email} onLeave={leave} />
        )}
      </div>
    </Dialog>
  );
}
