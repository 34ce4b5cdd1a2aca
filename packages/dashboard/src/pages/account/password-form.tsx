import { useState } from 'react';
import { isRefusal } from '../../api/api-error.ts';
import { api, request } from '../../api/request.ts';
import { useOperator } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNote, useForm } from '../../components/form.tsx';
import { PASSWORD_RULE, PasswordField, passwordProblem } from '../../components/password-field.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages } from './messages.ts';

/** Changes the password, which ends every other session. */
export function PasswordForm() {
  const { email } = useOperator();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const form = useForm({
    problems: {
      current: current === '' ? messages.currentMissing : undefined,
      next: passwordProblem(next, email),
    },
    submit: async () => {
      await request('POST', api`session/password`, { body: { current, next } });
      setCurrent('');
      setNext('');
      toast({ kind: 'done', title: messages.changed, detail: messages.changedDetail });
    },
  });
  const isWrong = isRefusal(form.error, 'sign_in_failed');

  return (
    <form className="flex max-w-sm flex-col gap-4" {...form.props}>
      {/* Password managers keep a password with the name it belongs to. */}
      <input type="hidden" autoComplete="username" name="username" value={email} />
      <PasswordField
        label={messages.currentPassword}
        autoComplete="current-password"
        value={current}
        onChange={setCurrent}
        error={isWrong ? messages.currentWrong : form.problem('current')}
      />
      <PasswordField
        label={messages.newPassword}
        autoComplete="new-password"
        value={next}
        onChange={setNext}
        hint={PASSWORD_RULE}
        error={form.problem('next')}
      />
      {!isWrong && <RefusalNote error={form.error} />}
      <p className="text-xs text-ink-3">{messages.changeHint}</p>
      <div>
        <Button type="submit" kind="primary" disabled={form.isBusy}>
          {messages.changePassword}
        </Button>
      </div>
    </form>
  );
}
