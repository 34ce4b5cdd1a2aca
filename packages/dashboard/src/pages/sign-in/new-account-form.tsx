import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field, FormError } from '../../components/field.tsx';

/** What a person gives to come in through a link. */
export interface NewAccount {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Fewer characters can be guessed; the server holds to the same. */
const SHORTEST_PASSWORD = 10;

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
  error: string | undefined;
  isPending: boolean;
  onSubmit: (account: NewAccount) => void;
}) {
  const [email, setEmail] = useState(fixed.email ?? '');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  function submit(event: FormEvent): void {
    event.preventDefault();
    onSubmit({ email, name, password });
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
            readOnly={fixed.email !== undefined}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      {asksForName && (
        <Field label="Your name" hint="Others see it beside your changes.">
          {(props) => (
            <input
              {...props}
              autoComplete="name"
              required
              maxLength={100}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Password" hint={`At least ${SHORTEST_PASSWORD} characters; a few words are best.`}>
        {(props) => (
          <input
            {...props}
            type="password"
            autoComplete="new-password"
            required
            minLength={SHORTEST_PASSWORD}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      {error !== undefined && <FormError>{error}</FormError>}
      <Button type="submit" kind="primary" disabled={isPending}>
        {action}
      </Button>
    </form>
  );
}
