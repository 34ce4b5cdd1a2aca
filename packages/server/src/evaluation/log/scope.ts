/** The part of the log that a follower gets. */
export interface LogScope {
  /** Ids of projects; absent for all, also later ones. */
  readonly projects?: ReadonlySet<string>;
  /** Names of environments; absent for all. */
  readonly environments?: ReadonlySet<string>;
}
