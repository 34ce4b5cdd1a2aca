import { CLOCK_TOLERANCE_MS } from './clock.ts';

/** The roles, least first. Each role may do everything that the ones before it may. */
export const ROLES = ['viewer', 'editor', 'admin'] as const;

/**
 * `viewer` reads; `editor` changes flags and their states; `admin` manages projects, environments, keys, access
 * tokens and operators.
 */
export type Role = (typeof ROLES)[number];

/** A role for all projects, future ones included; `none`: only the roles in single projects count. */
export const GLOBAL_ROLES = ['none', ...ROLES] as const;

/** One of {@link GLOBAL_ROLES}. */
export type GlobalRole = (typeof GLOBAL_ROLES)[number];

/** A role in one project. */
export interface ProjectRole {
  readonly projectId: string;
  /** The name of the project now. */
  readonly project: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
}

/** The rights of a person, an invitation or an access token. In a project, the higher of both roles counts. */
export interface Rights {
  readonly role: GlobalRole;
  /** Whether the states of protected environments may be changed. Administrators always may. */
  readonly canChangeProtected: boolean;
  /** The roles in single projects that still exist, by name; absent without any. */
  readonly projects?: readonly ProjectRole[];
}

/** The tasks that an access token can be limited to: `plan` reads and previews imports, `states` also sets flag states. */
export const TOKEN_LIMITS = ['plan', 'states'] as const;

/** One of {@link TOKEN_LIMITS}. */
export type TokenLimit = (typeof TOKEN_LIMITS)[number];

/** The permissions of an operation's actor. */
export interface Permissions extends Rights {
  /** The only task of an access token, whatever its roles; absent: all that they allow. */
  readonly only?: TokenLimit;
  /**
   * Names of the protected environments that this request confirms. `all` for programs: a confirmation
   * guards against a slip of the hand.
   */
  readonly confirmed: 'all' | readonly string[];
}

/**
 * The record that gives an actor its permissions. A change is committed only if the record still exists then and gives the
 * same rights.
 */
export interface Credential {
  readonly kind: 'token' | 'session';
  /** The id of the token, or the digest of the session. */
  readonly id: string;
  /** The rights when they were read, in a form that only the store compares. */
  readonly rights: string;
}

/** May do everything: the program itself, and the token from the settings. */
export const UNLIMITED: Permissions = { role: 'admin', canChangeProtected: true, confirmed: 'all' };

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
}

/** How long a session lasts, in milliseconds: unused, and at most. */
export const SESSION_LIFETIME = { idleMs: 12 * 3_600_000, absoluteMs: 7 * 86_400_000 } as const;

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
export function isLive(session: Session, now: number): boolean {
  const begun = Math.max(session.createdAt, session.lastUsedAt);
  return sessionEnd(session) > now && begun <= now + CLOCK_TOLERANCE_MS;
}

/** When the session ends if it is not used again. Epoch milliseconds. */
export function sessionEnd({ createdAt, lastUsedAt }: Session): number {
  return Math.min(lastUsedAt + SESSION_LIFETIME.idleMs, createdAt + SESSION_LIFETIME.absoluteMs);
}

/** How long a single sign-on may take from the first page to the last, in milliseconds. */
export const SIGN_ON_MS = 10 * 60_000;

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

/** An operator with the hash of the password, empty without one. The hash is only used to check a password. */
export interface Credentials {
  readonly operator: Operator;
  readonly passwordHash: string;
}

/** A session as the store has it. */
export interface FoundSession {
  readonly session: Session;
  readonly operator: Operator;
  readonly credential: Credential;
}

/** Reads of operators, sessions and links. Part of the store's port; lists are sorted by e-mail, invitations newest first. */
export interface PeopleReader {
  operators(): Promise<readonly Operator[]>;
  operator(id: string): Promise<Operator | undefined>;
  /** `email` in lower case. */
  operatorByEmail(email: string): Promise<Operator | undefined>;
  operatorByIdentity(identity: Identity): Promise<Operator | undefined>;
  hasOperators(): Promise<boolean>;
  credentials(email: string): Promise<Credentials | undefined>;
  /** A session and its operator, even after the session's end. */
  session(digest: string): Promise<FoundSession | undefined>;
  /** The links that are still open at `now` (epoch milliseconds), without `setup` links. */
  openInvitations(now: number): Promise<readonly Invitation[]>;
  /** Any link, also a used one. */
  invitationByDigest(digest: string): Promise<Invitation | undefined>;
}

/** Writes of operators, sessions and links, as part of one operation. Each leaves its audit row; none holds a secret or a hash. */
export interface PeopleTransaction extends PeopleReader {
  /** Locks operators, links and tokens until commit: what is read next stays true. Checks the author's rights, as a commit does. */
  lock(): Promise<void>;
  /** A second operator of that e-mail is refused with `already_exists`. The hash is empty for one without a password. */
  insertOperator(operator: Operator, passwordHash: string): Promise<void>;
  /** From now on the operator signs in as this identity: the password is forgotten. */
  linkOperator(operator: Operator, identity: Identity): Promise<void>;
  /** Replaces name and rights. */
  updateOperator(operator: Operator): Promise<void>;
  /** From now on the operator signs in with this password: an identity is forgotten. */
  setPassword(operator: Operator, passwordHash: string): Promise<void>;
  /** Removes the operator with the sessions. */
  deleteOperator(operator: Operator): Promise<void>;
  /** Records a sign-in. */
  insertSession(session: Session, operator: Operator): Promise<void>;
  /** Records a sign-out, unless the session does not exist. */
  deleteSession(digest: string, operator: Operator): Promise<void>;
  /** Ends the operator's sessions, except the one with the digest `except`. */
  deleteSessionsOf(operator: Operator, except?: string): Promise<void>;
  /** Records that the operator's single sign-on was refused, by a code for the reason. */
  refuseSignOn(operator: Operator, reason: string): Promise<void>;
  /** Marks the single sign-on with this digest used; `false` when it was used before. Leaves no audit row. */
  useSignOn(digest: string, at: number): Promise<boolean>;
  insertInvitation(invitation: Invitation, digest: string): Promise<void>;
  /** Marks the link used; `false` when it was used or revoked before. */
  useInvitation(invitation: Invitation, at: number): Promise<boolean>;
  /** A link that was used or revoked stays as it is. */
  revokeInvitation(invitation: Invitation, at: number): Promise<void>;
  /** Forgets the failed sign-ins of this bucket, and of those whose name continues it after an `@`. */
  forgetFailures(bucket: string): Promise<void>;
}

/** An account or address whose failed sign-ins are counted. */
export interface AttemptBucket {
  readonly name: string;
  /** Failures allowed within the window; without a limit they are only counted. */
  readonly limit?: number;
}

/** When failures are counted. */
export interface AttemptWindow {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly windowMs: number;
}

/** The result of counting an attempt: the failures of each bucket by name, or which of them is full and until when. */
export type Reservation =
  | { readonly failures: ReadonlyMap<string, number> }
  | { readonly full: string; readonly fullUntil: number };

/** Writes about people that are not changes: no log row, no audit row. */
export interface PeopleStore {
  /**
   * Counts one failure in each bucket before the attempt, so that simultaneous attempts cannot pass the
   * limit together. When a bucket is full nothing is counted, and the time is returned at which it starts again.
   */
  reserveAttempt(buckets: readonly AttemptBucket[], window: AttemptWindow): Promise<Reservation>;
  /** Removes one failure from each bucket, in one transaction, after an attempt that succeeded. */
  refundAttempt(buckets: readonly string[]): Promise<void>;
  /** Notes that the session, and so its operator, was active at `at`. */
  touchSession(session: Session, at: number): Promise<void>;
  /** Keeps a link for the first administrator; earlier ones of the same maker are revoked. */
  offerSetup(invitation: Invitation, digest: string): Promise<void>;
  /** Removes sessions that have ended, counts whose window has, old marks of sign-ons, and links that ended a month ago. */
  prune(now: number, windowMs: number): Promise<void>;
}
