import { useState } from 'react';
import { changeOperator, inviteOperator, useIsOnlyAdmin } from '../../api/operators.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useAdministered, useOperator, useSso } from '../../api/session.ts';
import type { CreatedLink, OperatorRecord } from '../../api/types.ts';
import { NameField, TextField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { LostSecret } from '../../components/lost-secret.tsx';
import {
  PermissionFields,
  type Permissions,
  permissionMembers,
  permissionsProblem,
  useDefaultPermissions,
} from '../../components/permission-fields.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages } from './messages.tsx';

/** Asks who is invited, where and with which role, and creates the link. `project`: where it begins. */
export function InviteDialog({
  project,
  onClose,
  onCreated,
}: {
  project?: string;
  onClose: () => void;
  onCreated: (link: CreatedLink) => void;
}) {
  const defaults = useDefaultPermissions(project);
  const [email, setEmail] = useState('');
  const [permissions, setPermissions] = useState(defaults);
  const form = useForm({
    problems: {
      email: /^\s*\S+@\S+\s*$/.test(email) ? undefined : messages.emailInvalid,
      permissions: permissionsProblem(permissions),
    },
    submit: async () => {
      onCreated(await inviteOperator({ email, ...permissionMembers(permissions) }));
      onClose();
    },
    stale: [queryKeys.invitations],
  });

  return (
    <FormDialog
      title={messages.inviteTitle}
      form={form}
      action={messages.inviteAction}
      lost={(answer) => <LostSecret answer={answer} onClose={onClose} text={messages.linkLost} />}
      onClose={onClose}
    >
      <TextField
        label={messages.email}
        hint={messages.emailHint}
        error={form.problem('email')}
        data-autofocus
        type="email"
        maxLength={254}
        value={email}
        onChange={setEmail}
      />
      <PermissionFields value={permissions} error={form.problem('permissions')} onChange={setPermissions} />
    </FormDialog>
  );
}

/**
 * Changes a person's name and rights. Only what was touched is sent, because others may be changing the rest. Administrators of
 * single projects change the roles there.
 */
export function EditOperatorDialog({ operator, onClose }: { operator: OperatorRecord; onClose: () => void }) {
  const self = useOperator();
  const sso = useSso();
  const [newName, setName] = useState<string>();
  const [newPermissions, setPermissions] = useState<Permissions>();
  const name = newName ?? operator.name;
  const administered = useAdministered();
  const known = permissionMembers({
    role: operator.role,
    canChangeProtected: operator.canChangeProtected,
    projects: (operator.projects ?? []).filter(({ project }) => administered?.includes(project) !== false),
  });
  const permissions = newPermissions ?? known;
  const members = permissionMembers(permissions);
  const isOtherRole = members.role !== known.role || members.canChangeProtected !== known.canChangeProtected;
  const areOtherProjects = JSON.stringify(members.projects) !== JSON.stringify(known.projects);
  const isSelf = self.id === operator.id;
  const isLast = useIsOnlyAdmin()(operator) && isOtherRole && members.role !== 'admin';
  const nameProblem = name.trim() === '' ? messages.nameMissing : undefined;
  const form = useForm({
    problems: { name: nameProblem },
    submit: async () => {
      await changeOperator(operator.id, {
        ...(newName === undefined ? {} : { name: newName }),
        ...(isOtherRole ? { role: members.role, canChangeProtected: members.canChangeProtected } : {}),
        ...(areOtherProjects ? { projects: members.projects } : {}),
      });
      toast({ kind: 'done', title: messages.saved(name.trim()) });
      onClose();
    },
    stale: isSelf ? [queryKeys.operators, queryKeys.session] : [queryKeys.operators],
  });

  return (
    <FormDialog
      title={messages.editPerson(operator.name)}
      form={form}
      action={messages.save}
      obstacle={isLast ? messages.onlyAdmin(operator.name) : undefined}
      onClose={onClose}
    >
      <p className="wrap-anywhere text-ink-2">{operator.email}</p>
      {administered === undefined && <NameField value={name} onChange={setName} error={nameProblem} />}
      {sso !== undefined && operator.signIn === 'sso' ? (
        <p className="text-ink-2">{messages.roleFromGroups(sso.label)}</p>
      ) : (
        <PermissionFields value={permissions} onChange={setPermissions} />
      )}
      {isOtherRole && !isLast && (
        <p className="text-ink-2">{isSelf ? messages.signsYouOut : messages.signsThemOut}</p>
      )}
    </FormDialog>
  );
}

/** Shows a one-time link once. */
export function LinkDialog({ created, onClose }: { created: CreatedLink; onClose: () => void }) {
  const { kind, email, link, expiresAt } = created;
  return (
    <SecretDialog
      title={kind === 'reset' ? messages.resetLinkTitle : messages.inviteLinkTitle}
      what={messages.secretKind}
      secret={link}
      onClose={onClose}
    >
      {messages.sendPrivately(email, <TimeAgo at={expiresAt} />)}
    </SecretDialog>
  );
}
