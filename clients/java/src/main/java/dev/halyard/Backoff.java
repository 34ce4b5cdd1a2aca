package dev.halyard;

import java.util.concurrent.ThreadLocalRandom;

/**
 * How long to wait before trying again: doubling from 1 s to 30 s with full jitter, or from 60 s to 5 min (upper half random) after
 * a refusal; never less than the server asked for, and then with the jitter on top. (Contract: C2.12 to C2.15)
 */
final class Backoff {
  static final long MAX_MS = 30_000;
  private static final long FIRST_REFUSED_MS = 60_000;
  private static final long MAX_REFUSED_MS = 300_000;

  private long firstMs = 1_000;
  private int failures;

  /** The server has set the first delay. */
  void setFirst(long ms) {
    firstMs = Math.min(Math.max(ms, 100), MAX_MS);
  }

  /** Forgets the failures so far. */
  void startAgain() {
    failures = 0;
  }

  /** Milliseconds to wait after one more failure. */
  double delayAfter(HalyardException error) {
    double random = ThreadLocalRandom.current().nextDouble();
    double doubling = Math.pow(2, failures++); // may become infinite; the limits below do not
    double delay =
        error.isRefusal()
            ? Math.min(FIRST_REFUSED_MS * doubling, MAX_REFUSED_MS) * (0.5 + random / 2)
            : Math.min(firstMs * doubling, MAX_MS) * random;
    return Math.max(0, error.retryAfterMs()) + delay;
  }
}
