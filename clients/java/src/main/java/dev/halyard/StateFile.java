package dev.halyard;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Keeps the last flags in a file, so that the next start answers with them while the service is away. (Contract: C6.1 to C6.4)
 *
 * <p>It is written as soon as the flags are current, a second after a change, every few minutes so that their age stays true, and
 * when they stop being current.
 */
final class StateFile {
  private static final long MIN_INTERVAL_MS = 1_000;
  private static final long RENEW_MS = 5 * 60_000;

  /** The version of the text, when it was current, the checksum of the JSON that follows, and the JSON. */
  private static final Pattern TEXT = Pattern.compile("halyard/1 (\\d{1,15}) (\\d{1,10}) (.*)", Pattern.DOTALL);

  private final Path path;
  private final Loop loop;
  private final Supplier<String> json;
  private final Consumer<HalyardException> report;
  private Future<?> timer;
  private boolean isCurrent;
  private boolean isWaiting;
  private long keptAt;

  StateFile(Path path, Loop loop, Supplier<String> json, Consumer<HalyardException> report) {
    this.path = path;
    this.loop = loop;
    this.json = json;
    this.report = report;
  }

  /** The JSON in the file of the options; {@code null} if nothing usable is there. */
  static String load(HalyardOptions options) {
    try {
      Matcher match = TEXT.matcher(Files.readString(options.stateFile));
      if (!match.matches() || !match.group(2).equals(checksum(match.group(3)))) return null;
      long ageMs = Math.max(0, System.currentTimeMillis() - Long.parseLong(match.group(1)));
      boolean isTooOld = options.stateMaxAge != null && ageMs > options.stateMaxAge.toMillis();
      return isTooOld ? null : match.group(3);
    } catch (IOException | RuntimeException unreadable) {
      return null; // damaged, or not there: nothing
    }
  }

  /** The status of the client has changed. */
  void onStatus(boolean isReady) {
    if (isReady) keep();
    else timer = Loop.cancel(timer);
    // Not twice in a moment, as by a short program.
    if (isCurrent && !isReady && (isWaiting || loop.now() - keptAt >= MIN_INTERVAL_MS)) write();
    isCurrent = isReady;
  }

  /** The flags have changed. */
  void onChange() {
    if (!isCurrent || isWaiting) return; // with the first map, the status came first
    isWaiting = true;
    writeIn(MIN_INTERVAL_MS);
  }

  private void keep() {
    write();
    writeIn(RENEW_MS * (0.9 + ThreadLocalRandom.current().nextDouble() / 5));
  }

  private void writeIn(double ms) {
    Loop.cancel(timer);
    timer = loop.after(ms, this::keep);
  }

  private void write() {
    isWaiting = false;
    keptAt = loop.now();
    try {
      String flags = json.get();
      Path folder = path.toAbsolutePath().getParent();
      Path unfinished = Files.createTempFile(folder, path.getFileName() + ".", null); // only for its owner
      try {
        Files.writeString(unfinished, "halyard/1 " + System.currentTimeMillis() + " " + checksum(flags) + " " + flags);
        Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(unfinished);
      }
    } catch (IOException | RuntimeException failure) {
      report.accept(new HalyardException("state_not_written", failure.getClass().getSimpleName() + ": " + path));
    }
  }

  private static String checksum(String json) {
    return Integer.toUnsignedString(Rollout.murmur3(json));
  }
}
