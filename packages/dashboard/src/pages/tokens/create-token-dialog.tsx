import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import { createToken } from '../../api/tokens.ts';
import { RefusalNote } from '../../changes/actions.tsx';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/copy.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { NameField } from '../../components/field.tsx';
import { type Expiry, ExpiryField, expiryMember } from '../../components/lifetime.tsx';
import { announce } from '../../components/live-region.tsx';
import {
  PermissionFields,
  type Permissions,
  permissionMembers,
} from '../../components/permission-fields.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';

/** Asks for what an access token is made of, makes it, and shows it once. */
export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [permissions, setPermissions] = useState<Permissions>({ role: 'editor', canChangeProtected: false });
  const [expiry, setExpiry] = useState<Expiry>({ kind: 'never' });
  const [isTried, setTried] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  // In this component's state and nowhere else, so that it goes with the dialog.
  const [secret, setSecret] = useState<string>();

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setTried(true);
    if (name.trim() === '' || expiry.kind === 'unusable') return;
    setPending(true);
    setError(undefined);
    try {
      const made = await createToken({ name, ...permissionMembers(permissions), ...expiryMember(expiry) });
      announce('The token is made');
      setSecret(made.token);
      await queries.invalidateQueries({ queryKey: queryKeys.tokens });
    } catch (refusal) {
      setError(refusal);
    } finally {
      setPending(false);
    }
  }

  if (secret !== undefined) {
    return (
      <SecretDialog title={`The token ${name.trim()}`} what="token" secret={secret} onClose={onClose}>
        <section className="mt-4">
          <h3 className="mb-1 font-medium">For the command line</h3>
          <CodeBlock label="Settings for the command line" code={settings(secret)} />
        </section>
      </SecretDialog>
    );
  }
  return (
    <Dialog title="New access token" onClose={onClose}>
      <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void submit(event)}>
        <NameField
          value={name}
          onChange={setName}
          hint="What uses it, such as “deploy pipeline”. The audit log says it beside each change."
          error={isTried && name.trim() === '' ? 'Give it a name.' : undefined}
        />
        <PermissionFields value={permissions} onChange={setPermissions} />
        <ExpiryField hint="It works until it is revoked." isTried={isTried} onChange={setExpiry} />
        <RefusalNote error={error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={isPending}>
            Create the token
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function settings(secret: string): string {
  return `export HALYARD_URL=${location.origin}\nexport HALYARD_TOKEN=${secret}\nhalyard doctor`;
}
