/** What is known of a project key after its creation. The key itself is not. (Spec: Project key) */
export interface ProjectKey {
  /** Public id; safe in logs and URLs. */
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  /** The key's last four characters, to recognise it by. */
  readonly lastFour: string;
  /** Names of the environments it opens. */
  readonly environments: readonly string[];
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  /** Written lazily, up to a minute late. */
  readonly lastUsedAt?: number;
}
