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
