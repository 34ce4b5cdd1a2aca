import type { Actor } from '../domain/audit.ts';
import { ServiceError } from '../domain/errors.ts';
import { ROLES, type Role } from '../domain/people.ts';
import type { Environment } from '../domain/project.ts';
import { quote } from '../domain/strict-members.ts';

/** Refuses an actor whose role is lower than `least` with `forbidden`. */
export function requireRole({ permissions }: Actor, least: Role): void {
  if (ROLES.indexOf(permissions.role) >= ROLES.indexOf(least)) return;
  throw new ServiceError(
    'forbidden',
    `This requires the role "${least}", and yours is "${permissions.role}": ask an administrator.`,
  );
}

/**
 * Refuses an actor who may not change the states of this environment: `forbidden` without the permission,
 * `confirmation_required` when it is protected and an operator has not confirmed this request.
 */
export function requireChangeOf(actor: Actor, environment: Environment): void {
  requireRole(actor, 'editor');
  if (!environment.protected) return;
  const { role, canChangeProtected, confirmed } = actor.permissions;
  const name = quote(environment.name);
  if (role !== 'admin' && !canChangeProtected) {
    throw new ServiceError(
      'forbidden',
      `The environment ${name} is protected, and you may not change it: ask an administrator.`,
    );
  }
  if (confirmed === 'all' || confirmed.includes(environment.name)) return;
  throw new ServiceError(
    'confirmation_required',
    `The environment ${name} is protected: confirm the change by sending its name in "X-Confirm-Environment".`,
  );
}
