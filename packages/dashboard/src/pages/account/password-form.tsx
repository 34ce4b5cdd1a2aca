import { type FormEvent, useState } from 'react';
import { isRefusal } from '../../api/api-error.ts';
import { api, request } from '../../api/request.ts';
import { useOperator } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNote } from '../../components/form.tsx';
import { PASSWORD_RULE, PasswordField, passwordProblem } from '../../components/password-field.tsx';
import { toast } from '../../components/toasts.tsx';

const EMPTY = { current: '', next: '' };

/** Another password, which ends every other session. */
export function PasswordForm() {
  const { email } = useOperator();
  const [{ current, next }, setPasswords] = useState(EMPTY);
  const [isTried, setTried] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const problem = passwordProblem(next, email);
  const isWrong = isRefusal(error, 'sign_in_failed');

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setTried(true);
    if (current === '' || problem !== undefined) return;
    setPending(true);
    setError(undefined);
    try {
      await request('POST', api`session/password`, { body: { current, next } });
      setPasswords(EMPTY);
      setTried(false);
      toast({ kind: 'done', title: 'The new password is set', detail: 'Every other browser is signed out.' });
    } catch (refusal) {
      setError(refusal);
    } finally {
      setPending(false);
    }
  }

  return (
    <form className="flex max-w-sm flex-col gap-4" noValidate onSubmit={(event) => void submit(event)}>
      {/* For password managers, which keep a password with the name it belongs to. */}
      <input type="hidden" autoComplete="username" name="username" value={email} />
      <PasswordField
        label="Current password"
        autoComplete="current-password"
        value={current}
        onChange={(password) => setPasswords({ current: password, next })}
        error={
          isWrong
            ? 'This is not the password that you have now: type it again.'
            : isTried && current === ''
              ? 'Type the password that you have now.'
              : undefined
        }
      />
      <PasswordField
        label="New password"
        autoComplete="new-password"
        value={next}
        onChange={(password) => setPasswords({ current, next: password })}
        hint={PASSWORD_RULE}
        error={isTried ? problem : undefined}
      />
      {!isWrong && <RefusalNote error={error} />}
      <p className="text-xs text-ink-3">
        It signs you out in every other browser, and keeps you signed in here.
      </p>
      <div>
        <Button type="submit" kind="primary" disabled={isPending}>
          {isPending ? 'Setting it …' : 'Change the password'}
        </Button>
      </div>
    </form>
  );
}
