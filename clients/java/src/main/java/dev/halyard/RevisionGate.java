package dev.halyard;

import java.util.function.LongSupplier;

/**
 * Decides whether a map may replace the one at hand: never an older one over a newer one, whatever node or way it comes from.
 * (Contract: C2.19, C2.21)
 */
final class RevisionGate {
  /** What to do with a map: take it, keep the newer one, or take it because the revisions started again. */
  enum Verdict {
    TAKE,
    KEEP,
    RESET
  }

  /** The revision of a map that has none. */
  static final long NONE = -1;

  /** How long lower revisions must persist, and on how many connections, before they are believed. */
  private static final long RESET_AFTER_MS = 60_000;

  private static final int RESET_AFTER_SIGHTINGS = 3;

  private final LongSupplier now;
  private long known = NONE;
  private long ticks;
  private long takenAt;
  private long lowerSince;
  private int lowerSightings;

  RevisionGate(LongSupplier now) {
    this.now = now;
  }

  /** The revision of the map at hand, or {@link #NONE}. */
  long known() {
    return known;
  }

  /** The place of a request in the order of requests and frames. */
  long tick() {
    return ++ticks;
  }

  /** Judges a map, and takes note of it unless it is kept out. A sighting speaks for the present of the service. */
  Verdict judge(long revision, long askedAt, boolean isSighting) {
    Verdict verdict = Verdict.TAKE;
    if (revision == NONE || known == NONE) {
      if (askedAt < takenAt) return Verdict.KEEP;
    } else if (revision < known) {
      if (!isSighting || !isReset()) return Verdict.KEEP;
      verdict = Verdict.RESET;
    }

    if (revision != NONE) known = revision;
    takenAt = Math.max(takenAt, askedAt);
    lowerSightings = 0;
    return verdict;
  }

  private boolean isReset() {
    if (lowerSightings++ == 0) lowerSince = now.getAsLong();
    return lowerSightings >= RESET_AFTER_SIGHTINGS && now.getAsLong() - lowerSince >= RESET_AFTER_MS;
  }
}
