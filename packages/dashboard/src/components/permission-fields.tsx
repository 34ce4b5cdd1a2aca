import type { Role } from '../api/types.ts';
import { CheckField, ChoiceField } from './field.tsx';
import { messages } from './messages.ts';

/** The permissions of a person or a token. */
export interface Permissions {
  readonly role: Role;
  readonly canChangeProtected: boolean;
}

/** The name of a role on screens. */
export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  none: 'Single projects',
  viewer: 'Viewer',
  editor: 'Editor',
  admin: 'Administrator',
};

const ROLES: readonly Role[] = ['viewer', 'editor', 'admin'];

const ROLE_CHOICES = ROLES.map((role) => [role, <RoleLabel key={role} role={role} />] as const);

function RoleLabel({ role }: { role: Role }) {
  return (
    <span>
      <span className="font-medium">{ROLE_NAMES[role]}</span>
      <span className="block text-xs text-ink-2">{messages.roles[role]}</span>
    </span>
  );
}

/** Asks for a role, and whether protected environments may be changed. */
export function PermissionFields({
  value: { role, canChangeProtected },
  onChange,
}: {
  value: Permissions;
  onChange: (permissions: Permissions) => void;
}) {
  return (
    <>
      <ChoiceField
        legend="Role"
        layout="rows"
        choices={ROLE_CHOICES}
        selected={role}
        onSelect={(each) => onChange({ role: each, canChangeProtected })}
      />
      <CheckField
        label={messages.canChangeProtected}
        hint={messages.protectedHints[role]}
        isChecked={role === 'admin' || (role === 'editor' && canChangeProtected)}
        isDisabled={role !== 'editor'}
        onChange={(isChecked) => onChange({ role, canChangeProtected: isChecked })}
      />
    </>
  );
}

/** The permissions to send. Access to protected environments is a choice for editors only. */
export function permissionMembers({ role, canChangeProtected }: Permissions): Permissions {
  return { role, canChangeProtected: role === 'admin' || (role === 'editor' && canChangeProtected) };
}

/** The permission for protected environments in words. */
export function protectedText({ role, canChangeProtected }: Permissions): string {
  if (role === 'viewer') return messages.protectedAccess.no;
  return role === 'admin' || canChangeProtected ? messages.protectedAccess.yes : messages.protectedAccess.no;
}
