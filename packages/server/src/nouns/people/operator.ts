import { CLOCK_TOLERANCE_MS } from '../../domain/clock.ts';
import type { Credential, Rights, SessionLifetime } from '../../domain/rights.ts';

/** A person's identity at a provider: the issuer's address, and the subject, which it never assigns to another person. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** A person who signs in to the dashboard. */
export interface Operator extends Rights {
  readonly id: string;
  /** Lower case; unique. */
  readonly email: string;
  readonly name: string;
  /** Present for a person who signs in by single sign-on and has no password. */
  readonly identity?: Identity;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly lastSeenAt?: number;
  /** Until when what the identity provider said at the last sign-in counts; absent where no provider vouches for the person. */
  readonly vouchedUntil?: number;
}

/** Whether what the person left behind goes on: not once they have been away from the identity provider for too long. */
export function isVouched({ identity, vouchedUntil = 0 }: Operator, now: number): boolean {
  return identity === undefined || vouchedUntil > now;
}

/** An operator with the hash of the password, empty without one. The hash is only used to check a password. */
export interface Credentials {
  readonly operator: Operator;
  readonly passwordHash: string;
}

/** A person's sign-in from one browser. Its id is the secret in the cookie; only the digest is kept. */
export interface Session {
  readonly digest: string;
  readonly operatorId: string;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  /** Exact to a minute. */
  readonly lastUsedAt: number;
}

/** Whether the session has not ended at `now`. One from the future was made by a wrong clock; a damaged time (NaN) ends it. */
export function isLive(session: Session, lifetime: SessionLifetime, now: number): boolean {
  const begun = Math.max(session.createdAt, session.lastUsedAt);
  return sessionEnd(session, lifetime) > now && begun <= now + CLOCK_TOLERANCE_MS;
}

/** When the session ends if it is not used again. Epoch milliseconds. */
export function sessionEnd(
  { createdAt, lastUsedAt }: Session,
  { idleMs, absoluteMs }: SessionLifetime,
): number {
  return Math.min(lastUsedAt + idleMs, createdAt + absoluteMs);
}

/** How long a single sign-on may take from the first page to the last, in milliseconds. */
export const SIGN_ON_MS = 10 * 60_000;

/** A session and its operator. */
export interface ActiveSession {
  readonly session: Session;
  readonly operator: Operator;
}

/** A session as the store has it. */
export interface FoundSession extends ActiveSession {
  readonly credential: Credential;
}
