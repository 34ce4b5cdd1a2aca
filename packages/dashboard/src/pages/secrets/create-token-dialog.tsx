import { useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import { createToken, revokeToken } from '../../api/tokens.ts';
import { CodeSection } from '../../components/copy.tsx';
import { NameField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { ExpiryField, expiryIn, expiryMember } from '../../components/lifetime.tsx';
import { announce } from '../../components/live-region.tsx';
import { LostSecret } from '../../components/lost-secret.tsx';
import { messages as design } from '../../components/messages.ts';
import {
  PermissionFields,
  permissionMembers,
  permissionsProblem,
  useDefaultPermissions,
} from '../../components/permission-fields.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { SelectField } from '../../components/select.tsx';
import { messages } from './token-messages.tsx';

/** How long a new token works unless another time is chosen. */
const DEFAULT_DAYS = 90;

const TOKEN_LIMITS = ['plan', 'states'] as const;

/** Creates an access token and shows it once. */
export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [permissions, setPermissions] = useState(useDefaultPermissions());
  const [only, setOnly] = useState('');
  const [expiry, setExpiry] = useState(() => expiryIn(DEFAULT_DAYS));
  // Only in this component's state, so that it disappears with the dialog.
  const [secret, setSecret] = useState<string>();
  const form = useForm({
    problems: {
      name: name.trim() === '' ? messages.nameMissing : undefined,
      permissions: permissionsProblem(permissions),
      expiry: expiry.kind === 'unusable' ? messages.expiryMissing : undefined,
    },
    submit: async () => {
      const created = await createToken({
        ...{ name, ...permissionMembers(permissions), only: TOKEN_LIMITS.find((each) => each === only) },
        // Without the member the server would choose an expiry.
        ...{ expiresAt: null, ...expiryMember(expiry) },
      });
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
    <FormDialog
      title={messages.createTitle}
      form={form}
      action={messages.createAction}
      lost={(answer) => (
        <LostSecret
          {...{ answer, onClose }}
          text={design.lostSecret.ofKind(messages.secretKind)}
          revoke={revokeToken}
        />
      )}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} hint={messages.nameHint} error={form.problem('name')} />
      <PermissionFields value={permissions} error={form.problem('permissions')} onChange={setPermissions} />
      <SelectField
        label={messages.limit}
        value={only}
        none={messages.noLimit}
        choices={TOKEN_LIMITS.map((each) => [each, messages.limits[each]] as const)}
        onSelect={setOnly}
      />
      <ExpiryField
        defaultDays={DEFAULT_DAYS}
        hint={messages.expiryHint}
        isTried={form.isTried}
        onChange={setExpiry}
      />
    </FormDialog>
  );
}

function settings(secret: string): string {
  return `export HALYARD_URL=${location.origin}\nexport HALYARD_TOKEN=${secret}\nhalyard doctor`;
}
