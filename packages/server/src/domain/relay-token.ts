/** A token with which a relay follows the log of a node. The token itself is nowhere; only its digest is stored. */
export interface RelayToken {
  readonly id: string;
  readonly name: string;
  /** Ids of the projects that it has; absent for all, future ones included. */
  readonly projects?: readonly string[];
  /** Names of the environments that it has; absent for all. */
  readonly environments?: readonly string[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly revokedAt?: number;
  /** When a relay last followed with it, to about half a minute. */
  readonly lastUsedAt?: number;
}

/** A relay token as nodes know it, from the log or a snapshot. */
export interface StoredRelay {
  readonly id: string;
  readonly digest: string;
  readonly projects?: readonly string[];
  readonly environments?: readonly string[];
}

/** Reads of relay tokens. Part of the store's port. */
export interface RelayReader {
  /** All of them, including revoked ones, by name. */
  list(): Promise<readonly RelayToken[]>;
}

/** Writes of relay tokens, as part of one operation. Each leaves its log row and its audit row. */
export interface RelayTransaction extends RelayReader {
  /** `already_exists` when another token that is not revoked has the name. */
  insert(token: RelayToken, digest: string): Promise<void>;
  /** Marks it revoked. A revoked one stays as it is. */
  revoke(token: RelayToken, at: number): Promise<void>;
}
