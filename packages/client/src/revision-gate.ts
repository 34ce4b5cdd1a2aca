import type { Platform } from './platform.ts';

/** How long lower revisions must persist before they are believed. */
export const RESET_AFTER_MS = 60_000;
/** On how many connections (or polls) lower revisions must have been met before they are believed. */
export const RESET_AFTER_SIGHTINGS = 3;

/** What to do with a map: take it, keep the newer one, or take it because the revisions started again. */
export type Verdict = 'take' | 'keep' | 'reset';

/** A map offered to the gate. */
export interface Offer {
  /** Its revision; `undefined` when the server does not number its maps. */
  readonly revision: number | undefined;
  /** When it was asked for, in ticks of {@link RevisionGate.tick}; a frame needs none. */
  readonly askedAt?: number;
  /** Whether it speaks for the present of the service: the first of a connection, from a node that follows the log. */
  readonly isSighting: boolean;
}

/**
 * Decides whether a map may replace the one at hand. Never an older one over a newer one, whatever node or channel it
 * comes from. Where a server does not number its maps, an answer asked for before the last frame came is older.
 *
 * A restored database starts lower. One low answer is a node that lags; low answers only, on at least three
 * connections over at least a minute, are a service that has moved back: then the map is taken.
 */
export class RevisionGate {
  /** The revision of the map at hand. */
  known: number | undefined;
  readonly #now: Platform['now'];
  #ticks = 0;
  #takenAt = 0;
  #lowerSince = 0;
  #lowerSightings = 0;

  constructor(now: Platform['now']) {
    this.#now = now;
  }

  /** The place of a request in the order of requests and frames. */
  tick(): number {
    return ++this.#ticks;
  }

  /** Judges an offer and, unless it is kept out, takes note of it. */
  judge({ revision, askedAt, isSighting }: Offer): Verdict {
    const { known } = this;
    let verdict: Verdict = 'take';
    if (revision === undefined || known === undefined) {
      if (askedAt !== undefined && askedAt < this.#takenAt) return 'keep';
    } else if (revision < known) {
      verdict = this.#isReset(isSighting) ? 'reset' : 'keep';
    }
    if (verdict !== 'keep') {
      this.known = revision;
      this.#takenAt = Math.max(this.#takenAt, askedAt ?? this.tick());
      this.#lowerSightings = 0;
    }
    return verdict;
  }

  #isReset(isSighting: boolean): boolean {
    if (!isSighting) return false;
    if (this.#lowerSightings++ === 0) this.#lowerSince = this.#now();
    return this.#lowerSightings >= RESET_AFTER_SIGHTINGS && this.#now() - this.#lowerSince >= RESET_AFTER_MS;
  }
}
