import type { QueryKey } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { NameField } from '../../components/field.tsx';
import { type Form, FormDialog, useForm } from '../../components/form.tsx';
import { announce } from '../../components/live-region.tsx';
import { LostSecret } from '../../components/lost-secret.tsx';
import { messages as design } from '../../components/messages.ts';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import type { SecretTexts } from './messages.tsx';

/** A new key or token. Only the answer that creates it contains the secret. */
export interface CreatedSecret {
  readonly id: string;
  readonly secret: string;
}

/** Creates a key or token: asks for its name and what `children` ask for, and shows the secret once, with its `usage`. */
export function CreateSecretDialog<Name extends string>({
  texts,
  initialName = '',
  problems,
  create,
  revoke,
  stale,
  usage,
  onClose,
  children,
}: {
  texts: SecretTexts & { readonly createTitle: string; readonly nameHint: string };
  initialName?: string;
  /** Those of the fields below the name. */
  problems: Readonly<Record<Name, string | undefined>>;
  create: (name: string) => Promise<CreatedSecret>;
  revoke: (id: string) => Promise<unknown>;
  /** The lists to read again. */
  stale: readonly QueryKey[];
  usage: (created: CreatedSecret) => ReactNode;
  onClose: () => void;
  children: (form: Form<Name>) => ReactNode;
}) {
  const [name, setName] = useState(initialName);
  // Only in this component's state, so that it disappears with the dialog.
  const [created, setCreated] = useState<CreatedSecret>();
  const nameProblem = name.trim() === '' ? texts.nameMissing : undefined;
  const form = useForm<Name | 'name'>({
    problems: { ...problems, name: nameProblem },
    submit: async () => {
      const answer = await create(name);
      announce(texts.created);
      setCreated(answer);
    },
    stale,
  });

  if (created !== undefined)
    return (
      <SecretDialog
        title={texts.secretTitle(name.trim())}
        what={texts.secretKind}
        secret={created.secret}
        onClose={onClose}
      >
        <div className="mt-4 flex flex-col gap-3">{usage(created)}</div>
      </SecretDialog>
    );
  return (
    <FormDialog
      title={texts.createTitle}
      form={form}
      action={texts.createAction}
      lost={(answer) => (
        <LostSecret
          answer={answer}
          text={design.lostSecret.ofKind(texts.secretKind)}
          revoke={revoke}
          onClose={onClose}
        />
      )}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} hint={texts.nameHint} error={form.problem('name')} />
      {children(form)}
    </FormDialog>
  );
}
