/** An environment that is published: anyone who knows the address reads its flags, without a key. (Spec: S18.1) */
export interface Publication {
  readonly environmentId: string;
  /** Where its files are, below the address of the setting: `project/environment`. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The newest revision that is in the storage, and since when; absent until the first is. */
  readonly revision?: number;
  readonly publishedAt?: number;
}

/** A publication as the publisher sees it. */
export interface PendingPublication extends Publication {
  /** Whether it still is to be published; otherwise its files are removed, and then its record. */
  readonly isWanted: boolean;
}

/** The flags of an environment at one revision. */
export interface PublishedMap {
  readonly revision: number;
  /** The body of `GET /v1/flags`. */
  readonly bytes: Uint8Array;
  /** Its entity tag without quotes. */
  readonly hash: string;
  /** Flag keys with their state texts. */
  states(): readonly (readonly [flagKey: string, state: string])[];
}

/** How long a node may publish without renewing its lease, in milliseconds. */
export const LEASE_MS = 10_000;

/** A claim to be the node that publishes. */
export interface PublisherLease {
  readonly node: string;
  /** Epoch milliseconds. */
  readonly now: number;
}
