import { TOKEN_LIMITS } from '@halyard/protocol';
import { type ReactNode, useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import { createToken, type NewToken, revokeToken } from '../../api/tokens.ts';
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
import { type SecretTexts, tokenTexts } from './messages.tsx';

/** How long a new token works unless another time is chosen. */
const DEFAULT_DAYS = 90;

/** Creates an access token of the installation and shows it once. */
export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const [permissions, setPermissions] = useState(useDefaultPermissions());

  return (
    <TokenDialog
      texts={tokenTexts}
      problem={permissionsProblem(permissions)}
      create={(token) => createToken({ ...token, ...permissionMembers(permissions) })}
      revoke={revokeToken}
      usage={(secret) =>
        `export HALYARD_URL=${location.origin}\nexport HALYARD_TOKEN=${secret}\nhalyard doctor`
      }
      onClose={onClose}
    >
      {(error) => <PermissionFields value={permissions} error={error} onChange={setPermissions} />}
    </TokenDialog>
  );
}

/** Creates an access token with the rights that `children` ask for, and shows it once, with the `usage` of its secret. */
export function TokenDialog({
  texts,
  problem,
  create,
  revoke,
  usage,
  onClose,
  children,
}: {
  texts: SecretTexts &
    Readonly<Record<'createTitle' | 'nameHint' | 'settingsTitle' | 'settingsLabel', string>>;
  /** Why the rights cannot be sent. */
  problem?: string | undefined;
  create: (
    token: Pick<NewToken, 'name' | 'only' | 'expiresAt'>,
  ) => Promise<{ readonly id: string; readonly token: string }>;
  revoke: (id: string) => Promise<unknown>;
  /** The commands that use the secret. */
  usage: (secret: string) => string;
  onClose: () => void;
  /** Asks for the rights. The error is the problem, once the form was sent. */
  children: (error: string | undefined) => ReactNode;
}) {
  const [only, setOnly] = useState('');
  const [expiry, setExpiry] = useState(() => expiryIn(DEFAULT_DAYS));

  async function createNamed(name: string) {
    const { id, token } = await create({
      name,
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
        permissions: problem,
        expiry: expiry.kind === 'unusable' ? texts.expiryMissing : undefined,
      }}
      create={createNamed}
      revoke={revoke}
      stale={[queryKeys.tokens]}
      usage={({ secret }) => (
        <CodeSection title={texts.settingsTitle} label={texts.settingsLabel} code={usage(secret)} />
      )}
      onClose={onClose}
    >
      {(form) => (
        <>
          {children(form.problem('permissions'))}

          <SelectField
            label={tokenTexts.limit}
            value={only}
            none={tokenTexts.noLimit}
            choices={TOKEN_LIMITS.map((each) => [each, tokenTexts.limits[each]] as const)}
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
