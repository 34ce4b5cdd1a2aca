package dev.halyard;

import java.io.ByteArrayOutputStream;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Keeps the map of one environment new until it is closed. There are two ways, and each has its own waits: whatever a server says about
 * one of them, as {@code Retry-After} or 401, never stops the other.
 *
 * <p>The stream brings each change at once. It is <em>live</em> when its last map is the newest one: that takes a frame or, from a
 * server that promises no first frame, an answer of REST asked for after the stream was opened. REST is asked while the stream is not
 * live. All of it belongs to the loop.
 */
final class Follower {
  /** How long the first stream may take to bring the map before REST is asked for it, and the stream after a live one. */
  private static final long FIRST_POLL_MS = 1_000;

  private static final long NEXT_POLL_MS = 5_000;

  /** While there is no stream, REST is asked so often; after a refusal, so much later. */
  private static final long POLL_MS = 30_000;

  private static final long REFUSED_POLL_MS = 240_000;

  /** How long to stay with a node that is behind before trying another: this, and up to half as much again. */
  private static final long BEHIND_MS = 4_000;

  /** A stream that was open for this long makes the next failure a first one. */
  private static final long HEALTHY_MS = 60_000;

  private final HalyardOptions options;
  private final Loop loop;
  private final FlagStore store;
  private final Backoff backoff = new Backoff();
  private final Usage usage;
  private final Set<Exchange> exchanges = new HashSet<>();

  private boolean isCurrent;
  private boolean isLive;

  private Future<?> pollTimer;
  private boolean isRestAsked;
  private boolean hasRestFailed;
  private long restAt;

  private Stream stream;
  private HalyardException streamError;
  private Future<?> openTimer;

  /** Given up at the end, so that what the JDK keeps for it can go. */
  private HttpClient http;

  Follower(HalyardOptions options, Loop loop, FlagStore store) {
    this.options = options;
    this.loop = loop;
    this.store = store;
    restAt = loop.now();
    usage = new Usage(options, loop, (exchange, request, timeoutMs) -> exchange.start(http, request, timeoutMs));
    loop.execute(this::start);
  }

  /** Over HTTP/1.1 giving a stream up closes its connection. Over plain HTTP no proxy gets the key; the default is no redirects. */
  private static HttpClient newHttpClient(HalyardOptions options) {
    ProxySelector proxy = options.isPlain() ? HttpClient.Builder.NO_PROXY : ProxySelector.getDefault();
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(Duration.ofMillis(Math.max(1, (long) (options.requestTimeout.toMillis() * options.timeScale))));
    return (proxy == null ? builder : builder.proxy(proxy)).build();
  }

  /** Counts one read, if the server asks for that. */
  void count(String key, boolean isOn) {
    usage.count(key, isOn);
  }

  /** Ends everything: requests, timers, the thread. Completes when the last report of reads is over. */
  CompletableFuture<Void> close() {
    loop.execute(
        () -> {
          if (store.isClosed()) return;
          store.become(Status.CLOSED);
          for (Future<?> timer : new Future<?>[] {pollTimer, openTimer}) Loop.cancel(timer);
          for (Exchange exchange : List.copyOf(exchanges)) exchange.end(null);
          usage.close(this::finish);
        });
    return store.closed;
  }

  private void finish() {
    loop.end();
    closeIdleConnections(http);
    http = null;
    store.closed.complete(null);
  }

  /** From Java 21 a client can be closed; before, its connections and its thread end when it is garbage. */
  private static void closeIdleConnections(HttpClient http) {
    try {
      if (http != null) HttpClient.class.getMethod("shutdownNow").invoke(http);
    } catch (ReflectiveOperationException olderJava) {
      // As said above.
    }
  }

  private void start() {
    if (options.problem != null) {
      store.report(options.problem);
      return;
    }
    http = newHttpClient(options);
    pollIn(FIRST_POLL_MS);
    open();
  }

  private static long revisionOf(HttpHeaders headers) {
    String text = headers.firstValue("X-Flags-Revision").orElse("");
    return text.matches("\\d{1,15}") ? Long.parseLong(text) : RevisionGate.NONE;
  }

  // REST.

  /** Asks REST in so many milliseconds, but not before the time that REST itself has named. */
  private void pollIn(double ms) {
    pollTimer = Loop.cancel(pollTimer);
    if (!store.isClosed()) pollTimer = loop.after(Math.max(ms, restAt - loop.now()), this::poll);
  }

  /** How long until REST is asked again: a tenth more or less, so that clients spread. */
  private static double interval(HalyardException failure) {
    long ms = failure != null && failure.isRefusal() ? REFUSED_POLL_MS : POLL_MS;
    return ms * (0.9 + ThreadLocalRandom.current().nextDouble() / 5);
  }

  private void poll() {
    pollTimer = null;
    isRestAsked = true;
    HttpRequest.Builder request = Exchange.read(options, "/v1/flags", "application/json");
    if (store.etag() != null) request.header("If-None-Match", store.etag());
    begin(new Rest(stream), request);
  }

  private void begin(Exchange exchange, HttpRequest.Builder request) {
    exchanges.add(exchange);
    exchange.start(http, request.build(), options.requestTimeout.toMillis());
  }

  /** A read of all flags. */
  private final class Rest extends Exchange {
    private final Stream asked;
    private final long askedAt = store.tick();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private int httpStatus;
    private HttpHeaders headers;

    Rest(Stream asked) {
      super(options, loop);
      this.asked = asked;
    }

    @Override
    void onOpen(int status, HttpHeaders given) {
      httpStatus = status;
      headers = given;
      given.firstValue("X-Flags-Usage").ifPresent(usage::hear);
    }

    @Override
    void onBytes(byte[] bytes) {
      body.write(bytes, 0, bytes.length);
      if (body.size() > EventStream.MAX_BYTES) throw new HalyardException("invalid_response", "it has no end");
    }

    @Override
    void onEnd(HalyardException failure) {
      exchanges.remove(this);
      if (store.isClosed()) return;
      HalyardException wrong = failure;
      try {
        if (wrong == null) take();
      } catch (HalyardException invalid) {
        wrong = invalid;
      }
      if (wrong != null) {
        isCurrent = false;
        if (streamError == null || !wrong.code().equals(streamError.code())) store.report(wrong);
      }
      planNext(wrong);
    }

    private void take() {
      boolean isStale = headers.firstValue("X-Flags-Stale").isPresent();
      FlagState.Parsed parsed = null;
      if (httpStatus == 200) {
        Object json = Json.parse(body.toString(StandardCharsets.UTF_8));
        boolean isOurs =
            json instanceof Map<?, ?> members
                && (members.get("environment") == null || members.get("environment").equals(options.environment));
        parsed = FlagState.readAll(isOurs ? ((Map<?, ?>) json).get("flags") : null);
      }
      String tag = headers.firstValue("ETag").orElse(null);
      RevisionGate.Verdict verdict = store.offer(parsed, revisionOf(headers), askedAt, !isLive && !isStale, tag);

      boolean isNew = !isStale && verdict != RevisionGate.Verdict.KEEP;
      isCurrent = isNew || isLive;
      if (isLive) return;
      // An answer says that the map is current, but only for a while.
      if (isNew) store.confirm();
      store.lapseIn(options.staleAfter.toMillis() + 2 * POLL_MS);
    }

    private void planNext(HalyardException failure) {
      long retryAfterMs = failure == null ? -1 : failure.retryAfterMs();
      restAt = loop.now() + Math.max(0, retryAfterMs);
      if (isLive) return;

      boolean isRepeated = hasRestFailed;
      hasRestFailed = failure != null;
      if (isCurrent && asked != null && asked == stream) live();
      // The stream may have asked for another poll since, which came before REST's own delay was known.
      else if (pollTimer == null || retryAfterMs > 0) pollIn(interval(failure));
      // A stream that is open may bring nothing for ever, so REST's second failure in a row is enough by itself.
      if (failure != null && (streamError != null || isRepeated)) store.giveUp();
    }
  }

  // The stream.

  private void open() {
    begin(new Stream(), Exchange.read(options, "/v1/stream", "text/event-stream"));
  }

  private void live() {
    isLive = true;
    hasRestFailed = false;
    isRestAsked = true;
    streamError = null;
    pollTimer = Loop.cancel(pollTimer);
    store.confirm();
  }

  /** A stream, from its request to its end. */
  private final class Stream extends Exchange {
    private final EventStream events =
        new EventStream() {
          @Override
          void onData(String text) {
            alive();
            onFrame(text);
          }

          @Override
          void onComment(String text) {
            alive();
            if (text.startsWith("usage ")) usage.hear(text.substring(6));
          }

          @Override
          void onRetry(long ms) {
            backoff.setFirst(ms);
          }
        };
    private boolean isOpen;
    private long openedAt;
    private long revision;
    private boolean isFirstFrame = true;
    private boolean isLeft;
    private Future<?> leave;

    Stream() {
      super(options, loop);
    }

    @Override
    void onOpen(int status, HttpHeaders headers) {
      String type = headers.firstValue("Content-Type").orElse("");
      if (!type.matches("(?is)text/event-stream\\s*(;.*)?"))
        throw new HalyardException("invalid_response", "it is not an event stream");
      isOpen = true;
      openedAt = loop.now();
      stream = this;
      revision = revisionOf(headers);
      headers.firstValue("X-Flags-Usage").ifPresent(usage::hear);
      if (revision == RevisionGate.NONE) pollIn(0); // no first frame is promised
    }

    @Override
    void onBytes(byte[] bytes) {
      events.feed(bytes);
    }

    private void onFrame(String text) {
      FlagState.Parsed parsed = FlagState.readAll(Json.parse(text));
      RevisionGate.Verdict verdict = store.offer(parsed, revision, store.tick(), isFirstFrame, null);
      isFirstFrame = false;
      if (revision != RevisionGate.NONE) revision++;

      if (verdict != RevisionGate.Verdict.KEEP) {
        leave = Loop.cancel(leave);
        live();
      } else if (leave == null) {
        leave = loop.after(BEHIND_MS * (1 + ThreadLocalRandom.current().nextDouble() / 2), this::leave);
      }
    }

    /** Leaves a node that is behind, which is no failure. */
    private void leave() {
      isLeft = true;
      end(null);
    }

    @Override
    void onEnd(HalyardException failure) {
      exchanges.remove(this);
      leave = Loop.cancel(leave);
      boolean wasLive = isLive;
      isLive = false;
      stream = null;
      if (store.isClosed()) return;
      store.lapseIn(options.staleAfter.toMillis());
      if (isLeft) {
        if (pollTimer == null) pollIn(interval(null));
        openTimer = loop.after(0, Follower.this::open);
        return;
      }

      boolean isHealthy = isOpen && loop.now() - openedAt >= HEALTHY_MS;
      HalyardException ended = describe(failure);
      streamError = ended;
      if (!isRestAsked) pollIn(0);
      else if (pollTimer == null) pollIn(wasLive ? NEXT_POLL_MS : interval(null));

      // Silence was slow enough by itself to begin again quickly.
      if (isHealthy || isOpen && ended.code().equals("timeout")) backoff.startAgain();
      openTimer = loop.after(backoff.delayAfter(ended), Follower.this::open);

      // A long stream that the server closes is not an error.
      if (!isHealthy || failure != null) store.report(ended);
      if (hasRestFailed) store.giveUp();
    }

    private HalyardException describe(HalyardException failure) {
      if (failure == null) return new HalyardException("stream_error", "the stream ended");
      boolean isBroken = isOpen && failure.code().equals("network_error");
      return isBroken ? new HalyardException("stream_error", failure.getMessage()) : failure;
    }
  }
}
