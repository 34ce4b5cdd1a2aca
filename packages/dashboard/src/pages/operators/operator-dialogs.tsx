import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import {
  type CreatedLink,
  changeOperator,
  inviteOperator,
  onlyAdminText,
  useIsOnlyAdmin,
} from '../../api/operators.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useOperator } from '../../api/session.ts';
import type { OperatorRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Field, FormError, NameField } from '../../components/field.tsx';
import { RefusalNote } from '../../components/form.tsx';
import {
  PermissionFields,
  type Permissions,
  permissionMembers,
} from '../../components/permission-fields.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { toast } from '../../components/toasts.tsx';

/** Changes a person's name and what they may do. What is not touched is left alone: others may be changing it. */
export function EditOperatorDialog({ operator, onClose }: { operator: OperatorRecord; onClose: () => void }) {
  const queries = useQueryClient();
  const self = useOperator();
  const [newName, setName] = useState<string>();
  const [newPermissions, setPermissions] = useState<Permissions>();
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const name = newName ?? operator.name;
  const permissions = newPermissions ?? operator;
  const members = permissionMembers(permissions);
  const isOther =
    newPermissions !== undefined &&
    (members.role !== operator.role || members.canChangeProtected !== operator.canChangeProtected);
  const isSelf = self.id === operator.id;
  const isLast = useIsOnlyAdmin()(operator) && isOther && members.role !== 'admin';

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (name.trim() === '') return;
    if (isLast) return;
    setPending(true);
    setError(undefined);
    try {
      await changeOperator(operator.id, {
        ...(newName === undefined ? {} : { name: newName }),
        ...(isOther ? members : {}),
      });
      toast({ kind: 'done', title: `${name.trim()} is changed` });
      onClose();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setPending(false);
      void queries.invalidateQueries({ queryKey: queryKeys.operators });
      if (isSelf) void queries.invalidateQueries({ queryKey: queryKeys.session });
    }
  }

  return (
    <Dialog title={`Edit ${operator.name}`} onClose={onClose}>
      <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void submit(event)}>
        <p className="break-all text-ink-2">{operator.email}</p>
        <NameField value={name} onChange={setName} error={name.trim() === '' ? 'Give a name.' : undefined} />
        <PermissionFields value={permissions} onChange={setPermissions} />
        {isLast && <FormError>{onlyAdminText(operator)}</FormError>}
        {isOther && !isLast && (
          <p className="text-ink-2">
            {isSelf
              ? 'You stay signed in here, and are signed out in other browsers.'
              : 'They are signed out everywhere and sign in again with what they may do then.'}
          </p>
        )}
        <RefusalNote error={error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={isPending || isLast}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Asks who is invited as what, and makes the link. */
export function InviteDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (link: CreatedLink) => void;
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
      onCreated(await inviteOperator({ email, ...permissionMembers(permissions) }));
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

/** Shows a one-time link once. */
export function LinkDialog({ offered, onClose }: { offered: CreatedLink; onClose: () => void }) {
  const { kind, email, link, expiresAt } = offered;
  return (
    <SecretDialog
      title={kind === 'reset' ? 'Link for a new password' : 'Invitation link'}
      what="link"
      secret={link}
      onClose={onClose}
    >
      <p className="mt-3 text-ink-2">
        Hand it to <strong className="font-medium break-all text-ink">{email}</strong> in a way that nobody
        else reads: whoever opens it chooses the password. It works once and ends <TimeAgo at={expiresAt} />.
      </p>
    </SecretDialog>
  );
}
