import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { RefusalNote } from '../../components/form.tsx';
import { PASSWORD_RULE, PasswordField, passwordProblem } from '../../components/password-field.tsx';

/** What a person gives to come in through a link. */
export interface NewAccount {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Asks for what a new account needs. Members in `fixed` are known already and not asked for. */
export function NewAccountForm({
  fixed,
  asksForName,
  action,
  error,
  isPending,
  onSubmit,
}: {
  fixed: { readonly email?: string | undefined };
  asksForName: boolean;
  action: string;
  error: unknown;
  isPending: boolean;
  onSubmit: (account: NewAccount) => void;
}) {
  const [email, setEmail] = useState(fixed.email ?? '');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [isTried, setTried] = useState(false);
  const problems = {
    email: /^\s*\S+@\S+\s*$/.test(email) ? undefined : 'Give an e-mail address, such as ada@example.com.',
    name: asksForName && name.trim() === '' ? 'Say what you are called.' : undefined,
    password: passwordProblem(password, email),
  };
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    setTried(true);
    const isComplete = Object.values(problems).every((problem) => problem === undefined);
    if (isComplete) onSubmit({ email, name, password });
    else focusFirst(event.currentTarget, problems);
  }
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
      <Field label="E-mail" error={isTried ? problems.email : undefined}>
        {(control) => (
          <input
            {...control}
            className={`${control.className} read-only:border-line read-only:bg-hover read-only:text-ink-2`}
            name="email"
            type="email"
            autoComplete="username"
            maxLength={254}
            required
            readOnly={fixed.email !== undefined}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      {asksForName && (
        <Field
          label="Your name"
          hint="Others see it beside your changes."
          error={isTried ? problems.name : undefined}
        >
          {(control) => (
            <input
              {...control}
              name="name"
              autoComplete="name"
              required
              maxLength={100}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      )}
      <PasswordField
        label="Password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
        hint={PASSWORD_RULE}
        error={isTried ? problems.password : undefined}
      />
      <RefusalNote error={error} />
      <Button type="submit" kind="primary" disabled={isPending}>
        {action}
      </Button>
    </form>
  );
}

/** Leads to the first field that something is wrong with. */
function focusFirst(form: HTMLFormElement, problems: Readonly<Record<string, string | undefined>>): void {
  const name = Object.keys(problems).find((each) => problems[each] !== undefined);
  form.querySelector<HTMLInputElement>(`input[name="${name}"]`)?.focus();
}
