package dev.halyard;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;

/**
 * One request and its answer, as the loop sees them: the headers, pieces of the body, and exactly one end. Whatever the server does, the end
 * comes in bounded time after the last sign of life, and then the connection is closed.
 */
abstract class Exchange implements HttpResponse.BodyHandler<Void>, HttpResponse.BodySubscriber<Void> {
  /** Without a sign of life for so long, an answer is dead: three heartbeats. (Contract: C2.18) */
  private static final long SILENCE_MS = 45_000;

  /** So many bytes are a sign of life in the middle of a frame; single bytes are not. */
  private static final int LIVELY_BYTES = 1_024;

  /** What explains a refusal is cut to this. */
  private static final int MAX_REFUSAL_BYTES = 64 * 1024;

  private static final long MAX_RETRY_AFTER_MS = 3_600_000;

  private final HalyardOptions options;
  private final Loop loop;
  private final ByteArrayOutputStream refusal = new ByteArrayOutputStream();
  private HttpResponse.ResponseInfo refused;
  private CompletableFuture<?> sent;
  private Future<?> timer;
  private boolean hasCondition;
  private int quietBytes;
  private volatile boolean isEnded;
  private volatile Flow.Subscription subscription;

  Exchange(HalyardOptions options, Loop loop) {
    this.options = options;
    this.loop = loop;
  }

  /** The answer is the one that was asked for: 200, or 304 where the request had a condition. */
  abstract void onOpen(int status, HttpHeaders headers);

  /** A piece of its body. */
  abstract void onBytes(byte[] bytes);

  /** The end; in good order without a failure. Nothing follows. */
  abstract void onEnd(HalyardException failure);

  /** Sends a request whose answer may take so long; called on the loop. */
  final void start(HttpClient http, HttpRequest request, long timeoutMs) {
    hasCondition = request.headers().map().containsKey("If-None-Match");
    expireIn(timeoutMs, "no answer in time");
    try {
      sent = http.sendAsync(request, this);
      sent.whenComplete((answer, thrown) -> onError(thrown));
    } catch (RuntimeException thrown) {
      onError(thrown);
    }
  }

  /** A request that carries the key. */
  static HttpRequest.Builder request(HalyardOptions options, String path) {
    return HttpRequest.newBuilder(URI.create(options.baseUrl + path)).header("X-Service-Key", options.apiKey);
  }

  /** A read of the environment. */
  static HttpRequest.Builder read(HalyardOptions options, String path, String accept) {
    String environment = URLEncoder.encode(options.environment, StandardCharsets.UTF_8).replace("+", "%20");
    return request(options, path + "?env=" + environment).header("Accept", accept).header("Cache-Control", "no-cache");
  }

  /** A sign of life. */
  final void alive() {
    quietBytes = 0;
    expireIn(SILENCE_MS, "it fell silent");
  }

  /** Ends the exchange, with or without a failure, and closes its connection. */
  final void end(HalyardException failure) {
    if (isEnded) return;
    isEnded = true;
    timer = Loop.cancel(timer);
    if (subscription != null) subscription.cancel();
    if (sent != null) sent.cancel(true);
    onEnd(refused == null ? failure : describeRefusal());
  }

  private void expireIn(long ms, String message) {
    Loop.cancel(timer);
    timer = loop.after(ms, () -> end(new HalyardException("timeout", message)));
  }

  private void take(byte[] bytes) {
    if (isEnded) return;
    if (refused != null) {
      refusal.write(bytes, 0, bytes.length);
      if (refusal.size() > MAX_REFUSAL_BYTES) end(null);
      return;
    }

    quietBytes += bytes.length;
    if (quietBytes >= LIVELY_BYTES) alive();
    try {
      onBytes(bytes);
    } catch (HalyardException failure) {
      end(failure);
    }
  }

  /** What an answer that was not asked for says. Its body only explains; an unreadable one leaves the status to speak. */
  private HalyardException describeRefusal() {
    int status = refused.statusCode();
    Map<?, ?> body = Map.of();
    try {
      if (Json.parse(refusal.toString(StandardCharsets.UTF_8)) instanceof Map<?, ?> members) body = members;
    } catch (HalyardException unreadable) {
      // As said above.
    }

    String code = status == 401 ? "invalid_api_key" : status == 429 ? "rate_limited" : status < 500 ? "invalid_response" : "internal_error";
    if (body.get("error") instanceof String error && error.matches("[a-z_]{1,64}")) code = error;
    String message = body.get("message") instanceof String text ? redact(options, text) : "the server answered " + status;
    long retryAfterMs = refused.headers().firstValue("Retry-After").map(Exchange::parseRetryAfter).orElse(-1L);
    return new HalyardException(code, message.substring(0, Math.min(message.length(), 500)), status, retryAfterMs);
  }

  /** Milliseconds from seconds or a date, cut; -1 where they cannot be understood. (C2.14) */
  static long parseRetryAfter(String text) {
    try {
      String given = text.strip();
      long ms =
          given.matches("\\d+")
              ? (long) (Double.parseDouble(given) * 1_000)
              : Duration.between(ZonedDateTime.now(), ZonedDateTime.parse(given, DateTimeFormatter.RFC_1123_DATE_TIME))
                  .toMillis();
      return ms < 0 ? -1 : Math.min(ms, MAX_RETRY_AFTER_MS);
    } catch (RuntimeException notUnderstood) {
      return -1;
    }
  }

  /** Takes the key out of a text. */
  static String redact(HalyardOptions options, String text) {
    return text.replace(options.apiKey, "[redacted]");
  }

  // Called by threads of the HTTP client, in order.

  @Override
  public final HttpResponse.BodySubscriber<Void> apply(HttpResponse.ResponseInfo answer) {
    loop.execute(
        () -> {
          if (isEnded) return;
          boolean isAsked = answer.statusCode() == 200 || answer.statusCode() == 304 && hasCondition;
          if (!isAsked) {
            refused = answer; // the time for the headers is also that of what explains a refusal
            return;
          }
          alive();
          try {
            onOpen(answer.statusCode(), answer.headers());
          } catch (HalyardException failure) {
            end(failure);
          }
        });
    return this;
  }

  @Override
  public final CompletionStage<Void> getBody() {
    return CompletableFuture.completedFuture(null); // the body is read as it comes
  }

  @Override
  public final void onSubscribe(Flow.Subscription given) {
    subscription = given;
    if (isEnded) given.cancel();
    else given.request(1);
  }

  @Override
  public final void onNext(List<ByteBuffer> buffers) {
    byte[] bytes = new byte[buffers.stream().mapToInt(ByteBuffer::remaining).sum()];
    int at = 0;
    for (ByteBuffer buffer : buffers) {
      int length = buffer.remaining();
      buffer.get(bytes, at, length);
      at += length;
    }
    loop.execute(
        () -> {
          take(bytes);
          if (!isEnded) subscription.request(1); // not before: the network waits for the loop
        });
  }

  @Override
  public final void onError(Throwable thrown) {
    if (thrown == null) return; // the request was answered
    Throwable cause = thrown.getCause() != null ? thrown.getCause() : thrown;
    String message = redact(options, cause.getClass().getSimpleName() + ": " + cause.getMessage());
    loop.execute(() -> end(new HalyardException("network_error", message + " (" + options.baseUrl + ")")));
  }

  @Override
  public final void onComplete() {
    loop.execute(() -> end(null));
  }
}
