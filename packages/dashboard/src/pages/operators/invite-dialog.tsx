import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { inviteOperator, type OfferedLink } from '../../api/operators.ts';
import { queryKeys } from '../../api/query-keys.ts';
import { RefusalNote } from '../../changes/refusal-note.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import {
  PermissionFields,
  type Permissions,
  permissionMembers,
} from '../../components/permission-fields.tsx';

/** Asks who is invited as what, and makes the link. */
export function InviteDialog({
  onClose,
  onOffered,
}: {
  onClose: () => void;
  onOffered: (link: OfferedLink) => void;
}) {
  const queries = useQueryClient();
  const [email, setEmail] = useState('');
  const [permissions, setPermissions] = useState<Permissions>({ role: 'editor', canChangeProtected: false });
  const [isTried, setTried] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const problem =
    isTried && !/^\s*\S+@\S+\s*$/.test(email)
      ? 'Give an e-mail address, such as ada@example.com.'
      : undefined;

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setTried(true);
    if (!/^\s*\S+@\S+\s*$/.test(email)) return;
    setPending(true);
    setError(undefined);
    try {
      onOffered(await inviteOperator({ email, ...permissionMembers(permissions) }));
      onClose();
      await queries.invalidateQueries({ queryKey: queryKeys.invitations });
    } catch (refusal) {
      setError(refusal);
      setPending(false);
    }
  }

  return (
    <Dialog title="Invite somebody" onClose={onClose}>
      <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void submit(event)}>
        <Field label="E-mail" hint="They sign in with it. It cannot be changed later." error={problem}>
          {(control) => (
            <input
              {...control}
              data-autofocus
              type="email"
              autoComplete="off"
              maxLength={254}
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          )}
        </Field>
        <PermissionFields value={permissions} onChange={setPermissions} />
        <RefusalNote error={error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={isPending}>
            Make the invitation
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
