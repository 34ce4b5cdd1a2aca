import type { Platform } from './platform.ts';

/** What to do with a map: take it, keep the newer one, or take it because the revisions started again. */
export type Verdict = 'take' | 'keep' | 'reset';

/** The keeper of the order of maps. */
export interface RevisionGate {
  /** The revision of the map at hand. */
  known(): number | undefined;
  /** The place of a request in the order of requests and frames. */
  tick(): number;
  /**
   * Judges a map that is offered and, unless it is kept out, takes note of it.
   *
   * - `revision`: that of the map; `undefined` when the server does not number its maps.
   * - `isSighting`: whether it speaks for the present of the service: the first of a connection, from a node that follows the log.
   * - `askedAt`: when it was asked for, in ticks of `tick`; what a stream brings needs none.
   */
  judge(revision: number | undefined, isSighting: boolean, askedAt?: number): Verdict;
}

/**
 * Makes a gate, which decides whether a map may replace the one at hand. Never an older one over a newer one, whatever node or channel it
 * comes from. Where a server does not number its maps, an answer asked for before the last frame came is older.
 *
 * A restored database starts lower. One low answer is a node that lags; low answers only, on at least three
 * connections over at least a minute, are a service that has moved back: then the map is taken.
 */
export function createRevisionGate(now: Platform['now']): RevisionGate {
  /** How long lower revisions must persist before they are believed. */
  const RESET_AFTER_MS = 60_000;
  /** On how many connections (or polls) lower revisions must have been met before they are believed. */
  const RESET_AFTER_SIGHTINGS = 3;
  let known: number | undefined;
  let ticks = 0;
  let takenAt = 0;
  let lowerSince = 0;
  let lowerSightings = 0;

  const isReset = () => {
    if (lowerSightings++ === 0) lowerSince = now();
    return lowerSightings >= RESET_AFTER_SIGHTINGS && now() - lowerSince >= RESET_AFTER_MS;
  };
  return {
    known: () => known,
    tick: () => ++ticks,
    judge: (revision, isSighting, askedAt = ++ticks) => {
      let verdict: Verdict = 'take';
      if (revision === undefined || known === undefined) {
        if (askedAt < takenAt) return 'keep';
      } else if (revision < known) {
        if (!isSighting || !isReset()) return 'keep';
        verdict = 'reset';
      }

      known = revision ?? known;
      takenAt = Math.max(takenAt, askedAt);
      lowerSightings = 0;
      return verdict;
    },
  };
}
