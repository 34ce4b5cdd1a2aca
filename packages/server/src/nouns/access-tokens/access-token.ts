import type { TokenLimit } from '@halyard/protocol';
import type { Credential, Rights } from '../../domain/rights.ts';

/** A credential of the CLI or of a pipeline for the management API. The token itself is shown once. */
export interface AccessToken extends Rights {
  readonly id: string;
  readonly name: string;
  readonly only?: TokenLimit;
  /** Whether its changes need no approval. */
  readonly exempt?: true;
  /** The person to whom it belongs, by id: it does no more than they may, and ends with them. Absent: it belongs to the installation. */
  readonly ownerId?: string;
  /** The e-mail of that person, while they exist. */
  readonly owner?: string;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly lastUsedAt?: number;
}

/** A token as it is found by its digest, with what its changes are checked against. */
export interface FoundToken {
  readonly token: AccessToken;
  readonly credential: Credential;
}

/** Whether a token can be used at `now`, epoch milliseconds. */
export function isValid({ revokedAt, expiresAt }: AccessToken, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}
