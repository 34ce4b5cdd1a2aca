import { useId } from 'react';
import type { Role } from '../api/types.ts';
import { messages } from './messages.ts';

/** The permissions of a person or a token. */
export interface Permissions {
  readonly role: Role;
  readonly canChangeProtected: boolean;
}

const ROLES: readonly (readonly [role: Role, name: string, what: string])[] = [
  ['viewer', 'Viewer', messages.roles.viewer],
  ['editor', 'Editor', messages.roles.editor],
  ['admin', 'Administrator', messages.roles.admin],
];

/** The name of a role on screens. */
export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  viewer: 'Viewer',
  editor: 'Editor',
  admin: 'Administrator',
};

/** Asks for a role, and whether protected environments may be changed. */
export function PermissionFields({
  value: { role, canChangeProtected },
  onChange,
}: {
  value: Permissions;
  onChange: (permissions: Permissions) => void;
}) {
  const name = useId();
  return (
    <>
      <fieldset className="min-w-0">
        <legend className="mb-1 font-medium">Role</legend>
        <div className="divide-y divide-line rounded-md border border-line">
          {ROLES.map(([each, label, what]) => (
            <label
              key={each}
              className="flex cursor-pointer items-start gap-2.5 px-3 py-2 has-checked:bg-accent-soft"
            >
              <input
                type="radio"
                name={name}
                className="mt-0.5 size-4 shrink-0 accent-accent"
                checked={role === each}
                onChange={() => onChange({ role: each, canChangeProtected })}
              />
              <span>
                <span className="font-medium">{label}</span>
                <span className="block text-xs text-ink-2">{what}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <label className="flex min-h-6 items-start gap-2.5">
        <input
          type="checkbox"
          className="mt-0.5 size-4 shrink-0 accent-accent"
          checked={role === 'admin' || (role === 'editor' && canChangeProtected)}
          disabled={role !== 'editor'}
          onChange={(event) => onChange({ role, canChangeProtected: event.target.checked })}
        />
        <span>
          {messages.canChangeProtected}
          <span className="block text-xs text-ink-3">{protectedHint(role)}</span>
        </span>
      </label>
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

function protectedHint(role: Role): string {
  if (role === 'admin') return messages.protectedHints.admin;
  return role === 'viewer' ? messages.protectedHints.viewer : messages.protectedHints.editor;
}
