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
  children,
  ...rest
}: {
  texts: SecretTexts & { readonly createTitle: string; readonly nameHint: string };
  initialName?: string;
  /** The problems of the fields below the name. */
  problems: Readonly<Record<Name, string | undefined>>;
  create: (name: string) => Promise<CreatedSecret>;
  children: (form: Form<Name>) => ReactNode;
} & Pick<SecretFormProps<Name>, 'revoke' | 'stale' | 'usage' | 'onClose'>) {
  const [name, setName] = useState(initialName);
  const nameProblem = name.trim() === '' ? texts.nameMissing : undefined;

  return (
    <SecretFormDialog<Name | 'name'>
      texts={texts}
      title={texts.createTitle}
      action={texts.createAction}
      name={name}
      problems={{ ...problems, name: nameProblem }}
      create={() => create(name)}
      lost={design.lostSecret.ofKind(texts.secretKind)}
      {...rest}
    >
      {(form) => (
        <>
          <NameField value={name} onChange={setName} hint={texts.nameHint} error={form.problem('name')} />
          {children(form)}
        </>
      )}
    </SecretFormDialog>
  );
}

interface SecretFormProps<Name extends string> {
  readonly texts: SecretTexts;
  readonly title: string;
  /** The label of the button that submits. */
  readonly action: string;
  /** The name of what is created. */
  readonly name: string;
  readonly problems: Readonly<Record<Name, string | undefined>>;
  readonly create: () => Promise<CreatedSecret>;
  readonly revoke: (id: string) => Promise<unknown>;
  /** What to do when the answer with the secret was lost. */
  readonly lost: string;
  /** The lists to read again. */
  readonly stale: readonly QueryKey[];
  readonly usage: (created: CreatedSecret) => ReactNode;
  readonly onClose: () => void;
  readonly children: (form: Form<Name>) => ReactNode;
}

/** A form whose answer has a secret, which is then shown once, with its `usage`. */
export function SecretFormDialog<Name extends string>({
  texts,
  title,
  action,
  name,
  problems,
  create,
  revoke,
  lost,
  stale,
  usage,
  onClose,
  children,
}: SecretFormProps<Name>) {
  // Only in this component's state, so that it disappears with the dialog.
  const [created, setCreated] = useState<CreatedSecret>();
  const form = useForm<Name>({
    problems,
    submit: async () => {
      const answer = await create();
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
      title={title}
      form={form}
      action={action}
      lost={(answer) => <LostSecret answer={answer} text={lost} revoke={revoke} onClose={onClose} />}
      onClose={onClose}
    >
      {children(form)}
    </FormDialog>
  );
}
