import { useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import { createToken } from '../../api/tokens.ts';
import { CodeSection } from '../../components/copy.tsx';
import { NameField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { type Expiry, ExpiryField, expiryMember } from '../../components/lifetime.tsx';
import { announce } from '../../components/live-region.tsx';
import {
  PermissionFields,
  type Permissions,
  permissionMembers,
} from '../../components/permission-fields.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { messages } from './messages.tsx';

/** Creates an access token and shows it once. */
export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [permissions, setPermissions] = useState<Permissions>({ role: 'editor', canChangeProtected: false });
  const [expiry, setExpiry] = useState<Expiry>({ kind: 'never' });
  // Only in this component's state, so that it disappears with the dialog.
  const [secret, setSecret] = useState<string>();
  const form = useForm({
    problems: {
      name: name.trim() === '' ? messages.nameMissing : undefined,
      expiry: expiry.kind === 'unusable' ? messages.expiryMissing : undefined,
    },
    submit: async () => {
      const token = { name, ...permissionMembers(permissions), ...expiryMember(expiry) };
      const created = await createToken(token);
      announce(messages.created);
      setSecret(created.token);
    },
    stale: [queryKeys.tokens],
  });
  if (secret !== undefined) {
    const title = messages.secretTitle(name.trim());
    return (
      <SecretDialog title={title} what={messages.secretKind} secret={secret} onClose={onClose}>
        <div className="mt-4">
          <CodeSection
            title={messages.settingsTitle}
            label={messages.settingsLabel}
            code={settings(secret)}
          />
        </div>
      </SecretDialog>
    );
  }
  return (
    <FormDialog title={messages.createTitle} form={form} action={messages.createAction} onClose={onClose}>
      <NameField value={name} onChange={setName} hint={messages.nameHint} error={form.problem('name')} />
      <PermissionFields value={permissions} onChange={setPermissions} />
      <ExpiryField hint={messages.expiryHint} isTried={form.isTried} onChange={setExpiry} />
    </FormDialog>
  );
}

function settings(secret: string): string {
  return `export HALYARD_URL=${location.origin}\nexport HALYARD_TOKEN=${secret}\nhalyard doctor`;
}
