/** What somebody may do, least first. Each role may do all that the ones before it may. */
export const ROLES = ['viewer', 'editor', 'admin'] as const;

/**
 * `viewer` reads; `editor` changes flags and their states; `admin` manages projects, environments, keys, access
 * tokens and operators.
 */
export type Role = (typeof ROLES)[number];

/** What an operation is allowed to do. */
export interface Permissions {
  readonly role: Role;
  /** Whether the states of protected environments may be changed. Administrators always may. */
  readonly canChangeProtected: boolean;
  /**
   * Names of the protected environments that this very request was confirmed for. `all` for programs: a confirmation
   * guards against a slip of the hand.
   */
  readonly confirmed: 'all' | readonly string[];
}

/** May do everything: the program itself, and the token from the settings. */
export const UNLIMITED: Permissions = { role: 'admin', canChangeProtected: true, confirmed: 'all' };

/** A person who signs in to the dashboard. */
export interface Operator {
  readonly id: string;
  /** Lower case; unique. */
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly lastSeenAt?: number;
}

/** A credential of the CLI or of a pipeline for the management API. The token itself is shown once. */
export interface AccessToken {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly canChangeProtected: boolean;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly lastUsedAt?: number;
}

/** How long a session lasts, in milliseconds: without being used, and whatever happens. */
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

/** When the session ends if it is not used again. Epoch milliseconds. */
export function sessionEnd({ createdAt, lastUsedAt }: Session): number {
  return Math.min(lastUsedAt + SESSION_LIFETIME.idleMs, createdAt + SESSION_LIFETIME.absoluteMs);
}

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

/** An operator with the hash of the password. The hash goes no further than the check of a password. */
export interface Credentials {
  readonly operator: Operator;
  readonly passwordHash: string;
}

/** Reads of who signs in. Part of the store's port; lists are sorted by e-mail, invitations newest first. */
export interface PeopleReader {
  operators(): Promise<readonly Operator[]>;
  operator(id: string): Promise<Operator | undefined>;
  /** `email` in lower case. */
  operatorByEmail(email: string): Promise<Operator | undefined>;
  hasOperators(): Promise<boolean>;
  credentials(email: string): Promise<Credentials | undefined>;
  /** A session, also one past its end, with whose it is. */
  session(digest: string): Promise<{ readonly session: Session; readonly operator: Operator } | undefined>;
  /** The links to somebody that still open something at `now` (epoch milliseconds); `setup` is to nobody yet. */
  openInvitations(now: number): Promise<readonly Invitation[]>;
  /** Any link, also a used one. */
  invitationByDigest(digest: string): Promise<Invitation | undefined>;
}

/** Writes of who signs in, as part of one operation. Each leaves its audit row; none holds a secret or a hash. */
export interface PeopleTransaction extends PeopleReader {
  /** From here until commit nobody else changes operators or uses links: what is read next stays true. */
  lock(): Promise<void>;
  /** A second operator of that e-mail is refused with `already_exists`. */
  insertOperator(operator: Operator, passwordHash: string): Promise<void>;
  /** Replaces name, role and `canChangeProtected`. */
  updateOperator(operator: Operator): Promise<void>;
  setPassword(operator: Operator, passwordHash: string): Promise<void>;
  /** Removes the operator with the sessions. */
  deleteOperator(operator: Operator): Promise<void>;
  /** Notes a sign-in. */
  insertSession(session: Session, operator: Operator): Promise<void>;
  /** Notes a sign-out. A session that is not there is no deed. */
  deleteSession(digest: string, operator: Operator): Promise<void>;
  /** Ends the operator's sessions, save the one of digest `except`. */
  deleteSessionsOf(operator: Operator, except?: string): Promise<void>;
  insertInvitation(invitation: Invitation, digest: string): Promise<void>;
  /** Marks the link used; `false` when it was used or revoked before. */
  useInvitation(invitation: Invitation, at: number): Promise<boolean>;
  /** A link that was used or revoked stays as it is. */
  revokeInvitation(invitation: Invitation, at: number): Promise<void>;
  /** Forgets the failed sign-ins of this bucket, and of those whose name continues it after an `@`. */
  forgetFailures(bucket: string): Promise<void>;
}

/** Something whose failed sign-ins are counted. */
export interface AttemptBucket {
  readonly name: string;
  /** Failures that it takes within the window; without a limit they are only counted. */
  readonly limit?: number;
}

/** When failures are counted. */
export interface AttemptWindow {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly windowMs: number;
}

/** What counting an attempt gave: the failures of each bucket by name, or which of them is full and until when. */
export type Reservation =
  | { readonly failures: ReadonlyMap<string, number> }
  | { readonly full: string; readonly fullUntil: number };

/** Writes about people that are no changes: no log row, no audit row. */
export interface PeopleStore {
  /**
   * Counts one failure in each bucket before the attempt is made, so that attempts at the same moment cannot pass the
   * limit together. When a bucket is full nothing is counted, and the time from which it counts anew is given.
   */
  reserveAttempt(buckets: readonly AttemptBucket[], window: AttemptWindow): Promise<Reservation>;
  /** Takes one failure of each bucket back, in one transaction: the attempt was none. */
  refundAttempt(buckets: readonly string[]): Promise<void>;
  /** Notes that the session, and so its operator, was active at `at`. */
  touchSession(session: Session, at: number): Promise<void>;
  /** Keeps a link for the first administrator; earlier ones of the same maker are revoked. */
  offerSetup(invitation: Invitation, digest: string): Promise<void>;
  /** Removes sessions that have ended, counts whose window has, and links that ended a month ago. */
  prune(now: number, windowMs: number): Promise<void>;
}
