/** A credential of the CLI or of a pipeline for the management API. The token itself is shown once. */
export interface AccessToken {
  readonly id: string;
  readonly name: string;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly lastUsedAt?: number;
}
