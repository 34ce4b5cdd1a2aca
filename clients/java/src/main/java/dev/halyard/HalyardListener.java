package dev.halyard;

import java.util.Set;

/** Hears of changes, one call at a time, on a thread that holds up neither reads nor the client. What it throws is logged. */
public interface HalyardListener {
  /**
   * The status of the client has changed.
   *
   * @param status the new status
   */
  default void onStatus(Status status) {}

  /**
   * Flags have changed.
   *
   * @param keys the flags that were added, changed or removed
   */
  default void onChange(Set<String> keys) {}
}
