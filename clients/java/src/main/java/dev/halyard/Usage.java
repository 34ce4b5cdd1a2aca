package dev.halyard;

import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

/** Counts reads once the server asks for it, and reports them. All but {@link #count} belongs to the loop. (Contract: C7.1 to C7.4) */
final class Usage {
  private static final long LEAST_SECONDS = 60;
  private static final int MAX_FLAGS = 1_000;
  private static final long MAX_COUNT = 1_000_000_000;
  private static final long CLOSE_MS = 1_000;

  /** Starts an exchange. */
  interface Sender {
    void send(Exchange exchange, HttpRequest request, long timeoutMs);
  }

  private record Count(LongAdder on, LongAdder off) {}

  /** What was counted for one flag since the last report. */
  private record Taken(String key, Count count, long on, long off) {}

  private final HalyardOptions options;
  private final Loop loop;
  private final Sender sender;
  private volatile Map<String, Count> counts;
  private long intervalMs;
  private Future<?> timer;
  private Report sending;

  /** What happens once the report that is being sent, and those that follow it, have ended. */
  private Runnable afterwards;

  Usage(HalyardOptions options, Loop loop, Sender sender) {
    this.options = options;
    this.loop = loop;
    this.sender = sender;
  }

  /** Counts one read; called by any thread. */
  void count(String key, boolean isOn) {
    Map<String, Count> now = counts;
    if (now == null) return;
    Count count = now.get(key);
    if (count == null) count = now.computeIfAbsent(key, missing -> new Count(new LongAdder(), new LongAdder()));
    (isOn ? count.on : count.off).increment();
  }

  /** The server asks for reports, so many seconds apart. */
  void hear(String seconds) {
    if (!options.reportUsage) return;
    String text = seconds.strip();
    intervalMs = Math.max(LEAST_SECONDS, text.matches("\\d{1,9}") ? Long.parseLong(text) : 0) * 1_000;
    if (counts == null) counts = new ConcurrentHashMap<>();
    if (timer == null) plan();
  }

  /** Sends the last report, if there is anything to say, and calls back, in a second at most. */
  void close(Runnable done) {
    timer = Loop.cancel(timer);
    afterwards = () -> send(take(), CLOSE_MS, done);
    if (sending == null) afterwards.run();
    loop.after(
        CLOSE_MS,
        () -> {
          afterwards = done;
          if (sending == null) done.run();
          else sending.end(null);
        });
  }

  private void plan() {
    // A tenth later at most, so that clients spread.
    double delay = intervalMs * (1 + ThreadLocalRandom.current().nextDouble() / 10);
    timer = loop.after(delay, () -> send(take(), options.requestTimeout.toMillis(), this::planNext));
    afterwards = null;
  }

  private void planNext() {
    if (afterwards != null) afterwards.run();
    else if (timer != null) plan();
  }

  private List<Taken> take() {
    List<Taken> all = new ArrayList<>();
    Map<String, Count> now = counts == null ? Map.of() : counts;
    now.forEach(
        (key, count) -> {
          Taken taken = new Taken(key, count, count.on.sumThenReset(), count.off.sumThenReset());
          if (taken.on + taken.off > 0) all.add(taken);
        });
    return all;
  }

  /** Sends counts in reports of a size that servers accept. Counts that were not accepted are kept for the next report. */
  private void send(List<Taken> all, long limitMs, Runnable done) {
    if (all.isEmpty()) {
      done.run();
      return;
    }

    List<Taken> some = all.subList(0, Math.min(all.size(), MAX_FLAGS));
    Map<String, Object> flags = new LinkedHashMap<>();
    for (Taken each : some)
      flags.put(each.key, Map.of("on", Math.min(each.on, MAX_COUNT), "off", Math.min(each.off, MAX_COUNT)));
    StringBuilder body = new StringBuilder();
    Json.write(body, Map.of("env", options.environment, "flags", flags));

    HttpRequest.Builder request = Exchange.request(options, "/usage/v1").header("Content-Type", "application/json");
    sending = new Report(all, some.size(), limitMs, done);
    sender.send(sending, request.POST(BodyPublishers.ofString(body.toString())).build(), limitMs);
  }

  private final class Report extends Exchange {
    private final List<Taken> all;
    private final int size;
    private final long limitMs;
    private final Runnable done;

    Report(List<Taken> all, int size, long limitMs, Runnable done) {
      super(options, loop);
      this.all = all;
      this.size = size;
      this.limitMs = limitMs;
      this.done = done;
    }

    @Override
    void onOpen(int status, HttpHeaders headers) {
      end(null); // 200 is not what was asked for
    }

    @Override
    void onBytes(byte[] bytes) {}

    @Override
    void onEnd(HalyardException answer) {
      sending = null;
      int status = answer == null ? 0 : answer.status();
      if (status == 204 || status == 400) { // what is refused once would be refused again
        send(all.subList(size, all.size()), limitMs, done);
        return;
      }
      for (Taken each : all) {
        each.count.on.add(each.on);
        each.count.off.add(each.off);
      }
      if (status == 401 || status == 404 || status == 405) {
        counts = null; // until the server asks again
        timer = Loop.cancel(timer);
      }
      done.run();
    }
  }
}
