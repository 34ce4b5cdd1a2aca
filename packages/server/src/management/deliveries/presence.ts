import {
  type DeliveryStore,
  PRESENCE_MS,
  type StreamCount,
  type StreamPresence,
} from '../../domain/delivery.ts';
import type { OpenStreams } from '../../domain/read-side.ts';

/** Least time between two writes of changed counts, and longest between two of unchanged ones, in milliseconds. */
const CHANGED_MS = 2000;
const UNCHANGED_MS = 10_000;

/** Parts of a {@link Presence}. */
export interface PresenceOptions {
  readonly node: string;
  readonly hub: OpenStreams;
  readonly store: Pick<DeliveryStore, 'savePresence' | 'presence' | 'removePresence'>;
  readonly now: () => number;
}

/** Which streams are open on this node, kept where all nodes see it; and what the others have said. */
export class Presence {
  readonly #options: PresenceOptions;
  #turnover = -1;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #hasRows = false;
  #reporting: Promise<void> = Promise.resolve();

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /**
   * Writes the counts down where it is time to, changed ones after `leastMs` at the earliest, after a write in
   * progress: of two at the same time the older might end last. Rejects when they could not be written; the next call
   * tries again.
   */
  report(leastMs = CHANGED_MS): Promise<void> {
    const next = () => (this.#isDue(leastMs) ? this.#write() : undefined);
    this.#reporting = this.#reporting.then(next, next);
    return this.#reporting;
  }

  /** The streams of all nodes that have been heard of lately. */
  read(): Promise<readonly StreamPresence[]> {
    return this.#options.store.presence(this.#options.now() - PRESENCE_MS);
  }

  #isDue(leastMs: number): boolean {
    const dueMs = this.#options.hub.turnover === this.#turnover ? UNCHANGED_MS : leastMs;
    return performance.now() - this.#writtenAt >= dueMs;
  }

  async #write(): Promise<void> {
    const { node, hub, store, now } = this.#options;
    const counts = listCounts(hub.streamsByKey());
    this.#turnover = hub.turnover;
    this.#writtenAt = performance.now();
    try {
      // A node without streams has nothing to say, once it has said so.
      if (counts.length > 0 || this.#hasRows) await store.savePresence(node, counts, now());
      this.#hasRows = counts.length > 0;
    } catch (cause) {
      this.#writtenAt = Number.NEGATIVE_INFINITY;
      throw cause;
    }
  }

  /** Takes this node's streams off the list: it stops. */
  async withdraw(): Promise<void> {
    if (this.#hasRows) await this.#options.store.removePresence(this.#options.node);
    this.#hasRows = false;
  }
}

function listCounts(byEnvironment: ReadonlyMap<string, ReadonlyMap<string, number>>): StreamCount[] {
  return [...byEnvironment].flatMap(([environmentId, byKey]) =>
    [...byKey].map(([keyId, streams]) => ({ environmentId, keyId, streams })),
  );
}
