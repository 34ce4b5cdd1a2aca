import { StorageError } from '../domain/errors.ts';
import type { Freshness } from '../domain/read-side.ts';
import type { Follower } from './replication/follower.ts';

/** A catalog whose last proof is older than this may be behind: two heartbeats, and one that was not answered. */
const PROOF_MS = 3000;

/** How current a node is, judged by its follower; `drain` takes it out of service. */
export class NodeFreshness implements Freshness {
  readonly #follower: Follower;
  readonly #maxStaleMs: number;
  #isDraining = false;

  constructor(follower: Follower, maxStaleSeconds: number | undefined) {
    this.#follower = follower;
    this.#maxStaleMs = (maxStaleSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  }

  /** From now on the node is not ready and opens no stream. */
  drain(): void {
    this.#isDraining = true;
  }

  canRead(): boolean {
    return (
      this.#follower.hasSnapshot &&
      (this.#follower.isLive || this.#follower.sinceProofMs() <= this.#maxStaleMs)
    );
  }

  canStream(): boolean {
    return this.#follower.isLive && !this.#isDraining;
  }

  mayLackRecords(): boolean {
    return !this.#follower.isLive || this.#follower.sinceProofMs() > PROOF_MS;
  }

  trouble(): string | undefined {
    const { lostCause } = this.#follower;
    return lostCause instanceof StorageError ? lostCause.message : undefined;
  }

  staleSeconds(): number | undefined {
    if (!this.mayLackRecords()) return undefined;
    const sinceProofMs = this.#follower.sinceProofMs();
    return Number.isFinite(sinceProofMs) ? Math.ceil(sinceProofMs / 1000) : undefined;
  }
}
