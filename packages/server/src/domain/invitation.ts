import type { Role } from './operator.ts';

/** What a one-time link is for: the first administrator, somebody new, somebody's new password. */
export const INVITATION_KINDS = ['setup', 'invite', 'reset'] as const;

/** One of {@link INVITATION_KINDS}. */
export type InvitationKind = (typeof INVITATION_KINDS)[number];

/** How long a link is good, in milliseconds. */
export const INVITATION_LIFETIME: Readonly<Record<InvitationKind, number>> = {
  setup: 86_400_000,
  invite: 7 * 86_400_000,
  reset: 86_400_000,
};

/** A link that lets somebody choose a password, once. The token in it is shown once; only its digest is kept. */
export interface Invitation {
  readonly id: string;
  readonly kind: InvitationKind;
  /** Lower case. Absent on `setup`: the first administrator says it. */
  readonly email?: string;
  /** What an invited person will be; on `reset` what the operator was then, for the record. */
  readonly role: Role;
  readonly canChangeProtected: boolean;
  /** The actor's name; for `setup` the node that offers it. */
  readonly createdBy: string;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt?: number;
  readonly revokedAt?: number;
}

/** Whether the link still opens something at `now`. */
export function isOpen(invitation: Invitation, now: number): boolean {
  return invitation.usedAt === undefined && invitation.revokedAt === undefined && invitation.expiresAt > now;
}
