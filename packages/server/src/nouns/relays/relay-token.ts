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

/** A relay token with the names of its projects. */
export interface NamedRelayToken extends Omit<RelayToken, 'projects'> {
  readonly projects?: readonly string[];
  /** How many projects of its scope were deleted; absent where none was. */
  readonly deletedProjects?: number;
}
