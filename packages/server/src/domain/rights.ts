import type { GlobalRole, Role, TokenLimit } from '@halyard/protocol';

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

/** The permissions of an operation's actor. */
export interface Permissions extends Rights {
  /** The only task of an access token, whatever its roles; absent: all that they allow. */
  readonly only?: TokenLimit;
  /** Whether an access token changes environments that require approvals without any, because people have reviewed what it does. */
  readonly exempt?: true;
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
  /** How long the session lasts at most, in milliseconds; absent: as {@link SESSION_LIFETIME} says. */
  readonly longestMs?: number;
}

/** May do everything: the program itself, and the token from the settings. */
export const UNLIMITED: Permissions = { role: 'admin', canChangeProtected: true, confirmed: 'all' };

/** How long a session lasts, in milliseconds. */
export interface SessionLifetime {
  /** Without use. */
  readonly idleMs: number;
  /** In any case. */
  readonly absoluteMs: number;
}

/** How long the session of a person with a password lasts. No session lasts longer. */
export const SESSION_LIFETIME: SessionLifetime = { idleMs: 12 * 3_600_000, absoluteMs: 7 * 86_400_000 };
