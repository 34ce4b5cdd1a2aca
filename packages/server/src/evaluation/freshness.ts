import { StorageError } from '../domain/errors.ts';
import type { Readiness } from '../domain/read-side.ts';
import type { Follower } from './replication/follower.ts';

/** A catalog whose last proof is older than this is not current: two heartbeats, and one that was not answered. */
const PROOF_MS = 3000;

/** A proof that is no older when it comes makes a node current at once: the next one, as late, comes in time. */
const PROMPT_MS = 1000;

/** After this process was paused, data that has arrived is read before a proof counts as missing. In milliseconds. */
const LATE_MS = 250;

/** Proofs that are this close are the same one, in milliseconds: their times are differences of two readings of the clock. */
const SAME_MS = 1;

/** Parts of a {@link NodeFreshness}. */
export interface NodeFreshnessOptions {
  readonly follower: Pick<Follower, 'isLive' | 'hasSnapshot' | 'lostCause' | 'sinceProofMs'>;
  /** Age from which reads are refused; absent for no limit. */
  readonly maxStaleSeconds?: number | undefined;
  /** The node has become current. */
  readonly onCurrent: () => void;
  /** No proof has come for three seconds, although the log is followed: the node is not current any longer. */
  readonly onLapsed: () => void;
}

/**
 * The one place that says whether a node is *current*: it has a proof, no older than three seconds, that the log ends where
 * its catalog ends. Only a current node opens streams, takes followers and is ready. A link that is too slow for that,
 * but steady, does not make it current for a part of each second: a proof that is older than a second when it comes
 * counts only if the one before it was still good. (Spec: S14.1)
 */
export class NodeFreshness implements Readiness {
  readonly #options: NodeFreshnessOptions;
  readonly #maxStaleMs: number;
  #isCurrent = false;
  #provenAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #isDraining = false;

  constructor(options: NodeFreshnessOptions) {
    this.#options = options;
    this.#maxStaleMs = (options.maxStaleSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  }

  get isCurrent(): boolean {
    return this.#isCurrent && this.#options.follower.sinceProofMs() <= PROOF_MS;
  }

  /** The follower has another proof. */
  proven(): void {
    const now = performance.now();
    const provenAt = now - this.#options.follower.sinceProofMs();
    // A log that is polled is proven again and again by the same event.
    if (provenAt - this.#provenAt < SAME_MS) return;
    const wasGood = now - this.#provenAt <= PROOF_MS;
    this.#provenAt = provenAt;
    if (this.#isCurrent || now - provenAt > (wasGood ? PROOF_MS : PROMPT_MS)) return;
    this.#isCurrent = true;
    this.#checkAt(provenAt + PROOF_MS);
    this.#options.onCurrent();
  }

  /** The follower has lost the log. Returns whether the node was current until now. */
  lost(): boolean {
    const wasCurrent = this.#isCurrent;
    this.#isCurrent = false;
    this.#provenAt = Number.NEGATIVE_INFINITY;
    clearTimeout(this.#timer);
    return wasCurrent;
  }

  /** From now on the node is not ready and opens no stream. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Whether flags are there whose age is known, and not above the limit. Asked for each read: looks at no clock while current. */
  canRead(): boolean {
    const { follower } = this.#options;
    if (this.#isCurrent) return follower.hasSnapshot;
    const sinceProofMs = follower.sinceProofMs();
    return follower.hasSnapshot && Number.isFinite(sinceProofMs) && sinceProofMs <= this.#maxStaleMs;
  }

  canStream(): boolean {
    return this.isCurrent && !this.#isDraining;
  }

  takesReads(): boolean {
    return this.canRead() && !this.#isDraining;
  }

  mayLackRecords(): boolean {
    return !this.isCurrent;
  }

  trouble(): string | undefined {
    const { lostCause, isLive } = this.#options.follower;
    if (lostCause instanceof StorageError) return lostCause.message;
    if (!isLive || this.isCurrent) return undefined;
    return (
      `The log is followed, but the last proof that this node is current is ${this.#ageSeconds()} seconds old: ` +
      'the way to its database or upstream takes too long.'
    );
  }

  staleSeconds(): number | undefined {
    return this.isCurrent ? undefined : this.#ageSeconds();
  }

  #ageSeconds(): number | undefined {
    const sinceProofMs = this.#options.follower.sinceProofMs();
    return Number.isFinite(sinceProofMs) ? Math.ceil(sinceProofMs / 1000) : undefined;
  }

  #checkAt(dueAt: number): void {
    this.#timer = setTimeout(() => this.#check(dueAt), dueAt - performance.now());
    this.#timer.unref();
  }

  #check(dueAt: number): void {
    const now = performance.now();
    const nextAt = this.#provenAt + PROOF_MS;
    if (nextAt > now) this.#checkAt(nextAt);
    else if (now > dueAt + LATE_MS) this.#checkAt(now + LATE_MS);
    else {
      this.#isCurrent = false;
      this.#options.onLapsed();
    }
  }
}
