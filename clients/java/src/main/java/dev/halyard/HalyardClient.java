package dev.halyard;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The flags of one environment, in memory and always kept new. A read is answered at once from an immutable map: it takes no lock, waits
 * for nothing and throws nothing, whatever happens to the server and the network. One daemon thread follows the flags until {@link
 * #close()}. Clients are meant to be shared by all threads, virtual ones too.
 *
 * <pre>{@code
 * HalyardClient flags = new HalyardClient(HalyardOptions.builder().apiKey(key).environment("production").build());
 * flags.ready().join();
 * if (flags.isEnabled("new-checkout", user.id())) renderNewCheckout();
 * }</pre>
 */
public final class HalyardClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HalyardClient.class);

  /** The same kind of failure is logged at most this often. */
  private static final long QUIET_MS = 60_000;

  private static final long CLOSE_SECONDS = 3;

  final HalyardOptions options;
  final FlagStore store;
  private final Follower follower;
  private final Loop loop;
  private final StateFile stateFile;
  private final ExecutorService events;
  private final List<HalyardListener> listeners = new CopyOnWriteArrayList<>();
  private final List<FlagStore.Listener> observers = new CopyOnWriteArrayList<>();
  private final Map<String, Long> quietUntil = new ConcurrentHashMap<>();

  /**
   * Makes a client, which begins to follow the flags.
   *
   * @param options what it is made of
   */
  public HalyardClient(HalyardOptions options) {
    this(options, null, new CompletableFuture<>());
  }

  /** {@link #HalyardClient(HalyardOptions)} with an observer that misses nothing, and the future of its first load. */
  HalyardClient(HalyardOptions options, FlagStore.Listener observer, CompletableFuture<Ready> firstLoad) {
    this.options = options;
    if (observer != null) observers.add(observer);
    events = serialExecutor("halyard-events-" + options.environment);
    loop = new Loop("halyard-" + options.environment, options.timeScale);
    stateFile = options.stateFile == null ? null : new StateFile(options.stateFile, loop, this::toBootstrap, this::report);
    Map<String, FlagState> kept = options.stateFile == null ? null : readBootstrap(StateFile.load(options), true);
    store = new FlagStore(options, loop, kept != null ? kept : readBootstrap(options.bootstrap, false), new Fanout());
    store.complete(firstLoad);
    follower = new Follower(options, loop, store);
  }

  /** An executor of one daemon thread that does one thing after the other, and is only there while there is something to do. */
  static ExecutorService serialExecutor(String name) {
    return new ThreadPoolExecutor(
        0,
        1,
        1,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        work -> {
          Thread thread = new Thread(work, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  /** The flags of a bootstrap; {@code null} if it is none, or one of another environment. */
  private Map<String, FlagState> readBootstrap(String json, boolean mustBeWrapped) {
    if (json == null) return null;
    try {
      Object given = Json.parse(json);
      boolean isWrapped =
          given instanceof Map<?, ?> members
              && members.get("environment") instanceof String
              && members.get("flags") instanceof Map;
      if (!isWrapped) return mustBeWrapped ? null : FlagState.readAll(given).flags();
      Map<?, ?> wrapper = (Map<?, ?>) given;
      return wrapper.get("environment").equals(options.environment) ? FlagState.readAll(wrapper.get("flags")).flags() : null;
    } catch (HalyardException damaged) {
      return null;
    }
  }

  /**
   * Waits for the first load, in bounded time.
   *
   * @return what became of it; never completed exceptionally
   */
  public CompletableFuture<Ready> ready() {
    return store.ready().thenApplyAsync(ready -> ready); // what depends on it must not run on the loop
  }

  /**
   * Whether a flag is on, for the targeting key of the options.
   *
   * @param key the flag
   * @return {@code false} also for a flag that does not exist, and before the first load
   */
  public boolean isEnabled(String key) {
    return evaluate(key, null).enabled();
  }

  /**
   * Whether a flag is on for someone.
   *
   * @param key the flag
   * @param targetingKey for whom; {@code null} for the targeting key of the options
   * @return {@code false} also for a flag that does not exist, and before the first load
   */
  public boolean isEnabled(String key, String targetingKey) {
    return evaluate(key, targetingKey).enabled();
  }

  /**
   * The value of a flag that is on and whose value is of the type of the default: text, {@code Boolean}, {@code Integer}, {@code Long},
   * {@code Double}, {@code Map} or {@code List}. Nothing is coerced, but a whole number is also a {@code Double}.
   *
   * @param <T> the type
   * @param key the flag
   * @param targetingKey for whom; {@code null} for the targeting key of the options
   * @param defaultValue the result otherwise, not {@code null}
   * @return the value, or the default
   */
  @SuppressWarnings("unchecked") // `as` gives the type of the default
  public <T> T getValue(String key, String targetingKey, T defaultValue) {
    Object value = as(defaultValue.getClass(), evaluate(key, targetingKey).value());
    return value == null ? defaultValue : (T) value;
  }

  /** The value as one of the type, {@code null} if it is of another. */
  private static Object as(Class<?> type, Object value) {
    if (type == Double.class && value instanceof Number number) return number.doubleValue();
    if (type == Long.class) return toLong(value);
    boolean isSameKind =
        Map.class.isAssignableFrom(type) ? value instanceof Map : List.class.isAssignableFrom(type) ? value instanceof List : type.isInstance(value);
    return isSameKind ? value : null;
  }

  /** A whole number, {@code null} for anything else. */
  static Long toLong(Object value) {
    return value instanceof Number number && number.doubleValue() == number.longValue() ? number.longValue() : null;
  }

  /**
   * Whether a flag is on, and why.
   *
   * @param key the flag
   * @param targetingKey for whom; {@code null} for the targeting key of the options
   * @return the result
   */
  public Evaluation evaluate(String key, String targetingKey) {
    Evaluation evaluation = decide(store.view, key, targetingKey);
    note(evaluation);
    return evaluation;
  }

  /** Evaluates a flag without anyone hearing of it. */
  Evaluation decide(View view, String key, String targetingKey) {
    String target = targetingKey == null ? options.targetingKey : targetingKey;
    return Evaluation.of(key, target, view.flags().get(key), view.isLoaded());
  }

  /** Counts a read, and tells the listener of reads. */
  void note(Evaluation evaluation) {
    if (evaluation.state() != null) follower.count(evaluation.key(), evaluation.enabled());
    if (options.onRead == null) return;
    try {
      options.onRead.accept(evaluation);
    } catch (RuntimeException thrown) {
      warn("onRead", "a listener threw: " + thrown);
    }
  }

  /**
   * All flags, as the server sent them.
   *
   * @return a map that does not change
   */
  public Map<String, FlagState> all() {
    return Collections.unmodifiableMap(store.view.flags());
  }

  /**
   * All flags as JSON, for {@link HalyardOptions.Builder#bootstrap} of another client.
   *
   * @return an object with the environment and its flags
   */
  public String toBootstrap() {
    Map<String, Object> wrapper = new LinkedHashMap<>();
    wrapper.put("environment", options.environment);
    wrapper.put("flags", FlagState.toJson(store.view.flags()));
    StringBuilder json = new StringBuilder();
    Json.write(json, wrapper);
    return json.toString();
  }

  /**
   * Where the client stands.
   *
   * @return its status
   */
  public Status status() {
    return store.view.status();
  }

  /**
   * The revision of the flags.
   *
   * @return empty before the first load, and if the server does not number its flags
   */
  public OptionalLong revision() {
    long revision = store.view.revision();
    return revision == RevisionGate.NONE ? OptionalLong.empty() : OptionalLong.of(revision);
  }

  /**
   * Adds a listener for changes, until {@link #removeListener} or {@link #close()}.
   *
   * @param listener the listener
   */
  public void addListener(HalyardListener listener) {
    listeners.add(listener);
  }

  /**
   * Removes a listener.
   *
   * @param listener the listener
   */
  public void removeListener(HalyardListener listener) {
    listeners.remove(listener);
  }

  /** Adds a listener that is called on the loop. */
  void observe(FlagStore.Listener observer) {
    observers.remove(observer);
    observers.add(observer);
  }

  void unobserve(FlagStore.Listener observer) {
    observers.remove(observer);
  }

  /** Ends requests, timers and threads; takes a second at most. Reads go on with the flags that the client had. */
  @Override
  public void close() {
    try {
      follower.close().get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt(); // it ends without anyone waiting
    } catch (java.util.concurrent.ExecutionException | TimeoutException late) {
      LOG.debug("[halyard] the end takes long", late);
    }
    events.shutdown();
  }

  /** Never shows the key. */
  @Override
  public String toString() {
    return "HalyardClient[" + options.environment + " at " + options.baseUrl + ", " + status() + "]";
  }

  private void report(HalyardException failure) {
    if (options.onError != null) tell(() -> options.onError.accept(failure));
    // The codes of a server have no end, but its statuses have.
    else warn(failure.status() > 0 ? "" + failure.status() : failure.code(), failure.code() + ": " + failure.getMessage());
  }

  private void warn(String topic, String message) {
    long now = System.nanoTime() / 1_000_000;
    Long before = quietUntil.get(topic);
    if (before != null && now < before) return;
    quietUntil.put(topic, now + QUIET_MS);
    LOG.warn("[halyard] {}", message);
  }

  private void tell(Runnable listener) {
    try {
      events.execute(
          () -> {
            try {
              listener.run();
            } catch (RuntimeException thrown) {
              warn("listener", "a listener threw: " + thrown);
            }
          });
    } catch (RejectedExecutionException closed) {
      // Nothing is heard of a closed client.
    }
  }

  /** Passes on what the follower says: to the file and the provider at once, to the application by its own thread. */
  private final class Fanout implements FlagStore.Listener {
    @Override
    public void onStatus(Status status) {
      LOG.debug("[halyard] {} is {}", options.environment, status);
      if (stateFile != null) stateFile.onStatus(status == Status.READY);
      for (FlagStore.Listener each : observers) each.onStatus(status);
      for (HalyardListener each : listeners) tell(() -> each.onStatus(status));
    }

    @Override
    public void onChange(Set<String> keys) {
      if (stateFile != null) stateFile.onChange();
      for (FlagStore.Listener each : observers) each.onChange(keys);
      Set<String> unchanging = Collections.unmodifiableSet(keys);
      for (HalyardListener each : listeners) tell(() -> each.onChange(unchanging));
    }

    @Override
    public void onError(HalyardException failure) {
      report(failure);
    }
  }
}
