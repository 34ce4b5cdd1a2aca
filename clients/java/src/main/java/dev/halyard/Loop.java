package dev.halyard;

import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one thread that keeps flags new: everything happens on it, so nothing needs a lock. */
final class Loop {
  private static final Logger LOG = LoggerFactory.getLogger(HalyardClient.class);

  private final ScheduledThreadPoolExecutor executor;
  private final double nanosPerMs;

  Loop(String name, double timeScale) {
    nanosPerMs = 1_000_000 * timeScale;
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            work -> {
              Thread thread = new Thread(work, name);
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
  }

  /** Monotonic milliseconds. */
  long now() {
    return (long) (System.nanoTime() / nanosPerMs);
  }

  /** Runs work soon, in the order of the calls. After the end of the loop it is dropped. */
  void execute(Runnable work) {
    after(0, work);
  }

  /** Runs work after so many milliseconds, unless the timer is cancelled. */
  Future<?> after(double ms, Runnable work) {
    try {
      return executor.schedule(() -> guard(work), (long) (ms * nanosPerMs), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException ended) {
      return null;
    }
  }

  /** Ends the thread when the work at hand is done; what was planned is dropped. */
  void end() {
    executor.shutdownNow();
  }

  private static void guard(Runnable work) {
    try {
      work.run();
    } catch (Throwable defect) { // whatever it is, the flags are followed for ever
      LOG.error("[halyard] a defect of the client", defect);
    }
  }

  /** Cancels a timer, if there is one. Returns the timer that is left: none. */
  static Future<?> cancel(Future<?> timer) {
    if (timer != null) timer.cancel(false);
    return null;
  }
}
