import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { changeOperator, onlyAdminText, useIsOnlyAdmin } from '../../api/operators.ts';
import { queryKeys } from '../../api/query-keys.ts';
import { useOperator } from '../../api/session.ts';
import type { OperatorRecord } from '../../api/types.ts';
import { RefusalNote } from '../../changes/refusal-note.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { FormError } from '../../components/field.tsx';
import { NameField } from '../../components/name-field.tsx';
import {
  PermissionFields,
  type Permissions,
  permissionMembers,
} from '../../components/permission-fields.tsx';
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
