package dev.halyard;

import dev.openfeature.sdk.ErrorCode;
import dev.openfeature.sdk.EvaluationContext;
import dev.openfeature.sdk.EventProvider;
import dev.openfeature.sdk.ImmutableMetadata;
import dev.openfeature.sdk.Metadata;
import dev.openfeature.sdk.ProviderEvaluation;
import dev.openfeature.sdk.ProviderEvent;
import dev.openfeature.sdk.ProviderEventDetails;
import dev.openfeature.sdk.Reason;
import dev.openfeature.sdk.Value;
import dev.openfeature.sdk.exceptions.FatalError;
import dev.openfeature.sdk.exceptions.GeneralError;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;

/**
 * The OpenFeature provider, which reads from memory.
 *
 * <pre>{@code
 * OpenFeatureAPI.getInstance().setProviderAndWait(
 *     new HalyardProvider(HalyardOptions.builder().apiKey(key).environment("production").build()));
 * }</pre>
 */
public final class HalyardProvider extends EventProvider {
  /** How long the SDK may take from the end of the initialization to its own note of that. */
  private static final long SETTLE_MS = 20;

  private final HalyardOptions options;
  private final FlagStore.Listener observer = new Emitter();
  private final ExecutorService events = HalyardClient.serialExecutor("halyard-provider-events");
  private final boolean isOwner;
  volatile HalyardClient client;
  private volatile CompletableFuture<Ready> firstLoad;
  private volatile boolean isShutDown;

  /**
   * Makes a provider with a client of its own, which begins with the initialization and ends with the provider.
   *
   * @param options what the client is made of
   */
  public HalyardProvider(HalyardOptions options) {
    this.options = options;
    isOwner = true;
  }

  /**
   * Makes a provider that reads from a client, which stays yours to close.
   *
   * @param client the client
   */
  public HalyardProvider(HalyardClient client) {
    this.client = client;
    options = client.options;
    isOwner = false;
  }

  @Override
  public Metadata getMetadata() {
    return () -> "halyard";
  }

  /** Waits for the first load, in bounded time. Throws when that fails; the provider becomes ready later if the cause passes. */
  @Override
  public void initialize(EvaluationContext context) {
    if (isShutDown) throw new FatalError("a provider that was shut down is not set again: make a new one");
    CountDownLatch initialized = new CountDownLatch(1);
    try {
      // Events wait until the SDK has drawn its own conclusion, or it would overwrite what they say.
      events.execute(() -> waitFor(initialized));
      CompletableFuture<Ready> load = new CompletableFuture<>();
      firstLoad = load;
      if (client == null) {
        client = new HalyardClient(options, observer, load);
      } else { // yours, or again after a failure
        client.observe(observer);
        client.store.complete(load);
      }

      Ready ready = load.join();
      // The SDK concludes that a provider with flags is ready, also when they may be out of date.
      if (client.status() == Status.STALE) events.execute(() -> emit(Status.STALE));
      if (ready.outcome() == Ready.Outcome.READY || ready.outcome() == Ready.Outcome.BOOTSTRAPPED) return;
      HalyardException error = ready.error();
      boolean isFatal = error.isRefusal() || error.code().equals("invalid_options");
      throw isFatal ? new FatalError(error.getMessage()) : new GeneralError(error.getMessage());
    } finally {
      initialized.countDown();
    }
  }

  private static void waitFor(CountDownLatch initialized) {
    try {
      initialized.await();
      Thread.sleep(SETTLE_MS);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the provider, and its client if that is its own. */
  @Override
  public void shutdown() {
    isShutDown = true;
    HalyardClient mine = client;
    if (mine != null) {
      mine.unobserve(observer);
      if (isOwner) mine.close();
    }
    events.shutdownNow();
    super.shutdown();
  }

  @Override
  public ProviderEvaluation<Boolean> getBooleanEvaluation(String key, Boolean defaultValue, EvaluationContext context) {
    return resolve(key, defaultValue, false, context, value -> value instanceof Boolean is ? is : null);
  }

  @Override
  public ProviderEvaluation<String> getStringEvaluation(String key, String defaultValue, EvaluationContext context) {
    return resolve(key, defaultValue, defaultValue, context, value -> value instanceof String text ? text : null);
  }

  @Override
  public ProviderEvaluation<Integer> getIntegerEvaluation(String key, Integer defaultValue, EvaluationContext context) {
    return resolve(key, defaultValue, defaultValue, context, value -> value instanceof Integer whole ? whole : null);
  }

  @Override
  public ProviderEvaluation<Long> getLongEvaluation(String key, Long defaultValue, EvaluationContext context) {
    return resolve(key, defaultValue, defaultValue, context, HalyardClient::toLong);
  }

  @Override
  public ProviderEvaluation<Double> getDoubleEvaluation(String key, Double defaultValue, EvaluationContext context) {
    return resolve(
        key, defaultValue, defaultValue, context, value -> value instanceof Number number ? number.doubleValue() : null);
  }

  @Override
  public ProviderEvaluation<Value> getObjectEvaluation(String key, Value defaultValue, EvaluationContext context) {
    return resolve(key, defaultValue, defaultValue, context, HalyardProvider::toValue);
  }

  /** A list or an object, or the value that is {@code null}, as OpenFeature has it: a copy, since its objects can be changed. */
  private static Value toValue(Object json) {
    return json == null || json instanceof Map || json instanceof List ? Value.objectToValue(json) : null;
  }

  /** Answers a read of any type; {@code convert} gives {@code null} for a value of another type. (Contract: C1.2 to C1.8) */
  private <T> ProviderEvaluation<T> resolve(
      String key, T defaultValue, T whenOff, EvaluationContext context, Function<Object, T> convert) {
    HalyardClient now = client;
    if (now == null) return failure(defaultValue, ErrorCode.PROVIDER_NOT_READY, "the provider is not initialized", ImmutableMetadata.EMPTY);
    View view = now.store.view;
    Evaluation read = now.decide(view, key, context == null ? null : context.getTargetingKey());
    ImmutableMetadata metadata = read.state() == null ? ImmutableMetadata.EMPTY : metadata(read.state());
    switch (read.reason()) {
      case NOT_READY:
        now.note(read);
        return failure(defaultValue, ErrorCode.PROVIDER_NOT_READY, "no flags have been loaded", metadata);
      case NOT_FOUND:
        now.note(read);
        return failure(defaultValue, ErrorCode.FLAG_NOT_FOUND, "the flag " + key + " does not exist", metadata);
      case UNTARGETED:
        return failure(defaultValue, ErrorCode.TARGETING_KEY_MISSING, key + " has a partial rollout", metadata);
      default:
        now.note(read);
    }

    T value = read.enabled() ? convert.apply(read.value()) : whenOff;
    if (value == null && read.enabled())
      return failure(defaultValue, ErrorCode.TYPE_MISMATCH, key + " is of another type than its default", metadata);
    return ProviderEvaluation.<T>builder()
        .value(value)
        .variant(read.enabled() ? "on" : "off")
        .reason(reasonOf(view, read))
        .flagMetadata(metadata)
        .build();
  }

  private static String reasonOf(View view, Evaluation read) {
    if (view.status() != Status.READY && read.enabled()) return view.isServed() ? "STALE" : Reason.CACHED.name();
    return read.reason().name(); // of these, both have the same names
  }

  private ImmutableMetadata metadata(FlagState state) {
    ImmutableMetadata.ImmutableMetadataBuilder metadata =
        ImmutableMetadata.builder().addString("environment", options.environment).addBoolean("enabled", state.enabled());
    if (state.rolloutPct() != null) metadata.addDouble("rolloutPct", state.rolloutPct());
    return metadata.build();
  }

  private static <T> ProviderEvaluation<T> failure(T defaultValue, ErrorCode code, String message, ImmutableMetadata metadata) {
    return ProviderEvaluation.<T>builder()
        .value(defaultValue)
        .reason(Reason.ERROR.name())
        .errorCode(code)
        .errorMessage(message)
        .flagMetadata(metadata)
        .build();
  }

  private void emit(Status status) {
    ProviderEventDetails.ProviderEventDetailsBuilder<?, ?> details = ProviderEventDetails.builder();
    switch (status) {
      case READY -> emit(ProviderEvent.PROVIDER_READY, details.build()).await();
      case STALE -> emit(ProviderEvent.PROVIDER_STALE, details.build()).await();
      case CLOSED -> emit(ProviderEvent.PROVIDER_STALE, details.message("the client is closed").build()).await();
      case FAILED -> emit(
              ProviderEvent.PROVIDER_ERROR,
              details.message("no flags have been loaded").errorCode(ErrorCode.GENERAL).build())
          .await();
      case CONNECTING -> {}
    }
  }

  /** Tells the SDK, one event after the other: its own threads would mix them up. What belongs to the first load it says itself. */
  private final class Emitter implements FlagStore.Listener {
    @Override
    public void onStatus(Status status) {
      tell(() -> emit(status));
    }

    @Override
    public void onChange(Set<String> keys) {
      ProviderEventDetails details = ProviderEventDetails.builder().flagsChanged(new ArrayList<>(keys)).build();
      tell(() -> emit(ProviderEvent.PROVIDER_CONFIGURATION_CHANGED, details).await());
    }

    @Override
    public void onError(HalyardException error) {}

    private void tell(Runnable event) {
      CompletableFuture<Ready> load = firstLoad;
      if (isShutDown || load == null || !load.isDone()) return;
      try {
        events.execute(event);
      } catch (RejectedExecutionException ended) {
        // Nothing is heard of a provider that was shut down.
      }
    }
  }
}
