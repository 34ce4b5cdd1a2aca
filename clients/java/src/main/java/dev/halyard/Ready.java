package dev.halyard;

/**
 * What became of the first load.
 *
 * @param outcome the result
 * @param error why there are no flags; {@code null} if there are
 */
public record Ready(Outcome outcome, HalyardException error) {
  /** The kinds of results. */
  public enum Outcome {
    /** The server's flags are there. */
    READY,
    /** Flags of the last run, or a bootstrap, are there. */
    BOOTSTRAPPED,
    /** The first load failed. The client goes on trying. */
    FAILED,
    /** There was no answer in time. The client goes on waiting. */
    TIMEOUT
  }
}
