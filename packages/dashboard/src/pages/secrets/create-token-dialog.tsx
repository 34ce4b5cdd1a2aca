import { TOKEN_LIMITS } from '@halyard/protocol';
import { useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import { createToken, revokeToken } from '../../api/tokens.ts';
import { CodeSection } from '../../components/copy.tsx';
import { ExpiryField, expiryIn, expiryMember } from '../../components/lifetime.tsx';
import {
  PermissionFields,
  permissionMembers,
  permissionsProblem,
  useDefaultPermissions,
} from '../../components/permission-fields.tsx';
import { SelectField } from '../../components/select.tsx';
import { CreateSecretDialog } from './create-secret-dialog.tsx';
import { tokenTexts as texts } from './messages.tsx';

/** How long a new token works unless another time is chosen. */
const DEFAULT_DAYS = 90;

/** Creates an access token and shows it once. */
export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const [permissions, setPermissions] = useState(useDefaultPermissions());
  const [only, setOnly] = useState('');
  const [expiry, setExpiry] = useState(() => expiryIn(DEFAULT_DAYS));

  async function create(name: string) {
    const { id, token } = await createToken({
      name,
      ...permissionMembers(permissions),
      only: TOKEN_LIMITS.find((each) => each === only),
      // Without the member the server would choose an expiry.
      expiresAt: null,
      ...expiryMember(expiry),
    });
    return { id, secret: token };
  }

  return (
    <CreateSecretDialog
      texts={texts}
      problems={{
        permissions: permissionsProblem(permissions),
        expiry: expiry.kind === 'unusable' ? texts.expiryMissing : undefined,
      }}
      create={create}
      revoke={revokeToken}
      stale={[queryKeys.tokens]}
      usage={({ secret }) => (
        <CodeSection title={texts.settingsTitle} label={texts.settingsLabel} code={settings(secret)} />
      )}
      onClose={onClose}
    >
      {(form) => (
        <>
          <PermissionFields
            value={permissions}
            error={form.problem('permissions')}
            onChange={setPermissions}
          />
          <SelectField
            label={texts.limit}
            value={only}
            none={texts.noLimit}
            choices={TOKEN_LIMITS.map((each) => [each, texts.limits[each]] as const)}
            onSelect={setOnly}
          />
          <ExpiryField
            defaultDays={DEFAULT_DAYS}
            hint={texts.expiryHint}
            isTried={form.isTried}
            onChange={setExpiry}
          />
        </>
      )}
    </CreateSecretDialog>
  );
}

function settings(secret: string): string {
  return `export HALYARD_URL=${location.origin}\nexport HALYARD_TOKEN=${secret}\nhalyard doctor`;
}
