import type { Role } from './operator.ts';

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
