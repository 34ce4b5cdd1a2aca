import { useEffect, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { RefusalNote, useForm } from '../../components/form.tsx';
import { PASSWORD_RULE, PasswordField, passwordProblem } from '../../components/password-field.tsx';
import { messages } from './messages.tsx';

/** The input for a new account. */
export interface NewAccount {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Asks for the details of a new account. A given e-mail address cannot be changed. */
export function NewAccountForm({
  knownEmail,
  asksForName,
  action,
  submit,
}: {
  knownEmail?: string | undefined;
  asksForName: boolean;
  action: string;
  submit: (account: NewAccount) => Promise<unknown>;
}) {
  const [email, setEmail] = useState(knownEmail ?? '');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const form = useForm({
    problems: {
      email: /^\s*\S+@\S+\s*$/.test(email) ? undefined : messages.emailInvalid,
      name: asksForName && name.trim() === '' ? messages.nameMissing : undefined,
      password: passwordProblem(password, email),
    },
    submit: () => submit({ email, name, password }),
  });

  const { ref } = form.props;
  useEffect(() => {
    // In a low window the field is below: the page begins at its heading all the same.
    ref.current?.querySelector<HTMLElement>('input:not([readonly])')?.focus({ preventScroll: true });
  }, [ref]);

  return (
    <form className="flex flex-col gap-4" {...form.props}>
      <TextField
        label={messages.email}
        error={form.problem('email')}
        className="read-only:border-line read-only:bg-hover read-only:text-ink-2"
        name="email"
        type="email"
        autoComplete="username"
        maxLength={254}
        required
        readOnly={knownEmail !== undefined}
        value={email}
        onChange={setEmail}
      />
      {asksForName && (
        <TextField
          label={messages.name}
          hint={messages.nameHint}
          error={form.problem('name')}
          name="name"
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onChange={setName}
        />
      )}
      <PasswordField
        label={messages.password}
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
        hint={PASSWORD_RULE}
        error={form.problem('password')}
      />
      <RefusalNote error={form.error} />
      <Button type="submit" kind="primary" disabled={form.isBusy}>
        {action}
      </Button>
    </form>
  );
}
