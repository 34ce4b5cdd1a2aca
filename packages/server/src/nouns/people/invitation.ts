import { CLOCK_TOLERANCE_MS } from '../../domain/clock.ts';
import type { Rights } from '../../domain/rights.ts';

/** The purpose of a one-time link: the first administrator, a new operator, a new password. */
export const INVITATION_KINDS = ['setup', 'invite', 'reset'] as const;

/** One of {@link INVITATION_KINDS}. */
export type InvitationKind = (typeof INVITATION_KINDS)[number];

/** How long a link is valid, in milliseconds. */
export const INVITATION_LIFETIME: Readonly<Record<InvitationKind, number>> = {
  setup: 86_400_000,
  invite: 7 * 86_400_000,
  reset: 86_400_000,
};

/** A link with which a person chooses a password, once. The token in it is shown once; only its digest is kept. */
export interface Invitation extends Rights {
  readonly id: string;
  readonly kind: InvitationKind;
  /** Lower case. Absent on `setup`: the first administrator chooses it. The rights on `reset` are only for the record. */
  readonly email?: string;
  /** The actor's name; for `setup` the node that offers it. */
  readonly createdBy: string;
  /** A digest of this link's id and the token of the settings that created it; absent for other creators. */
  readonly madeWith?: string;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt?: number;
  readonly revokedAt?: number;
}

/** Whether the link can still be used at `now`. One from the future was made by a wrong clock, and would last too long. */
export function isOpen({ usedAt, revokedAt, createdAt, expiresAt }: Invitation, now: number): boolean {
  if (usedAt !== undefined || revokedAt !== undefined) return false;
  return expiresAt > now && createdAt <= now + CLOCK_TOLERANCE_MS;
}
