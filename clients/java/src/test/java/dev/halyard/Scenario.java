package dev.halyard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.ErrorCode;
import dev.openfeature.sdk.EvaluationContext;
import dev.openfeature.sdk.FlagEvaluationDetails;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import dev.openfeature.sdk.ProviderEvent;
import dev.openfeature.sdk.ProviderState;
import dev.openfeature.sdk.Value;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** One scenario of the server of broken behaviors: does its steps in order; conformance/clients/README.md says what each is. */
final class Scenario {
  private static final OpenFeatureAPI API = OpenFeatureAPI.getInstance();

  /** Scaled times are at least so long. */
  private static final double LEAST_REQUEST_MS = 500;

  private static final double LEAST_READY_MS = 1_000;

  private record Event(String type, List<String> keys) {}

  private final String server;
  private final Map<String, Object> run;
  private final Path stateFile;
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private HalyardClient client;
  private Client features;

  @SuppressWarnings("unchecked") // as the README has it
  Scenario(String server, String name, Path folder) {
    this.server = server;
    run = (Map<String, Object>) Repository.ask("POST", server + "/scenarios/" + name + "/runs", null).body();
    stateFile = folder.resolve("flags.txt");
  }

  void perform(List<Map<String, Object>> steps) {
    try {
      for (Map<String, Object> step : steps) {
        try {
          perform(step);
        } catch (RuntimeException | AssertionError failure) {
          throw new AssertionError(step + ": " + failure.getMessage(), failure);
        }
      }
    } finally {
      if (client != null) client.close();
    }
  }

  private void perform(Map<String, Object> step) {
    switch ((String) step.get("do")) {
      case "open" -> open((Map<?, ?>) step.getOrDefault("options", Map.of()));
      case "ready" -> ready(step);
      case "read" -> {
        if (step.containsKey("withinMs")) eventually(step, () -> read(step));
        else assertEquals(step.get("expect"), read(step));
      }
      case "steady" -> steady((Map<?, ?>) step.get("read"), millis(step, "forMs"));
      case "status" -> {
        eventually(step, () -> client.status().name().toLowerCase(Locale.ROOT));
        if (client.status() == Status.READY) initialized(step);
      }
      case "event" -> event(step);
      case "act" -> {
        Repository.Answer answer = Repository.ask("POST", server + "/runs/" + run.get("id") + "/acts/" + step.get("name"), null);
        assertEquals(200, answer.status(), String.valueOf(answer.body()));
      }
      case "close" -> {
        if (client != null) client.close();
      }
      case "verdict" ->
          assertEquals(
              Map.of("ok", true), Repository.ask("GET", server + "/runs/" + run.get("id") + "/verdict", null).body());
      default -> fail("an unknown step");
    }
  }

  private void open(Map<?, ?> given) {
    HalyardOptions.Builder options =
        HalyardOptions.builder()
            .baseUrl(choose(given, "baseUrl"))
            .apiKey(choose(given, "apiKey"))
            .environment(choose(given, "environment"));
    given.forEach(
        (name, value) -> {
          switch ((String) name) {
            case "timeScale" -> {
            double scale = ((Number) value).doubleValue();
            // On a busy machine fifty milliseconds say nothing of a server.
            Duration request = Duration.ofMillis((long) Math.max(5_000, LEAST_REQUEST_MS / scale));
            Duration ready = Duration.ofMillis((long) Math.max(5_000, LEAST_READY_MS / scale));
            options.timeScale(scale).requestTimeout(request).readyTimeout(ready);
          }
          case "targetingKey" -> options.targetingKey((String) value);
            case "statePath" -> options.stateFile(stateFile);
            case "stateMaxAgeMs" -> options.stateMaxAge(Duration.ofMillis(((Number) value).longValue()));
            case "reportUsage" -> options.reportUsage((Boolean) value);
            case "bootstrap" -> options.bootstrap(write(value));
            case "insecure" -> options.allowInsecureHttp((Boolean) value);
            case "baseUrl", "apiKey", "environment" -> {}
            default -> fail("an unknown option: " + name);
          }
        });

    String domain = "scenario-" + run.get("id");
    if (features == null) {
      features = API.getClient(domain);
      for (ProviderEvent type : ProviderEvent.values())
        features.on(type, details -> events.add(new Event(type.name(), details.getFlagsChanged())));
    }
    HalyardProvider provider = new HalyardProvider(options.build());
    API.setProvider(domain, provider);
    while (provider.client == null) sleep();
    client = provider.client;
  }

  private String choose(Map<?, ?> options, String name) {
    if (!options.containsKey(name)) return (String) run.get(name);
    String port = ((String) run.get("baseUrl")).replaceAll(".*:", "");
    return ((String) options.get(name)).replace("{key}", (String) run.get("apiKey")).replace("{port}", port);
  }

  private void ready(Map<String, Object> step) {
    long end = System.nanoTime() + millis(step, "withinMs") * 1_000_000;
    Ready ready = firstLoad(step);
    // On a busy machine, times that are scaled may be too short; the client goes on, and so does the test.
    while (!name(ready).equals(step.get("expect")) && isLate(ready) && System.nanoTime() < end) ready = firstLoad(step);
    assertEquals(step.get("expect"), name(ready), String.valueOf(ready.error()));
    initialized(step);
  }

  /** Waits until the SDK has noted what the provider said at its start: until then it answers reads by itself. */
  private void initialized(Map<String, Object> step) {
    long end = System.nanoTime() + millis(step, "withinMs") * 1_000_000;
    while (features.getProviderState() == ProviderState.NOT_READY) pause(end, "the provider is not initialized");
  }

  private Ready firstLoad(Map<String, Object> step) {
    return client.ready().orTimeout(millis(step, "withinMs"), TimeUnit.MILLISECONDS).join();
  }

  private static boolean isLate(Ready ready) {
    return ready.outcome() == Ready.Outcome.TIMEOUT || ready.error() != null && ready.error().code().equals("timeout");
  }

  private static String name(Ready ready) {
    return ready.outcome().name().toLowerCase(Locale.ROOT);
  }

  /** What a read answers, of the members that are expected. */
  private Map<String, Object> read(Map<?, ?> step) {
    FlagEvaluationDetails<?> details = details(step);
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("value", details.getValue() instanceof Value value ? OpenFeatureJson.toJson(value) : details.getValue());
    all.put("reason", details.getReason());
    all.put("variant", details.getVariant());
    all.put("errorCode", details.getErrorCode() == null ? null : details.getErrorCode().name());
    all.put("metadata", details.getFlagMetadata().asUnmodifiableMap());
    all.keySet().retainAll(((Map<?, ?>) step.get("expect")).keySet());
    return asParsed(all);
  }

  private FlagEvaluationDetails<?> details(Map<?, ?> step) {
    String key = (String) step.get("key");
    Object fallback = step.get("default");
    String target = (String) step.get("targetingKey");
    EvaluationContext context = step.containsKey("targetingKey") ? new ImmutableContext(target) : new ImmutableContext();
    return switch ((String) step.get("type")) {
      case "boolean" -> features.getBooleanDetails(key, (Boolean) fallback, context);
      case "string" -> features.getStringDetails(key, (String) fallback, context);
      case "integer" -> integer(key, ((Number) fallback).longValue(), context);
      case "float" -> features.getDoubleDetails(key, ((Number) fallback).doubleValue(), context);
      default -> features.getObjectDetails(key, Value.objectToValue(fallback), context);
    };
  }

  /** Java has two integers: what does not fit into the smaller one is read as the other. */
  private FlagEvaluationDetails<?> integer(String key, long fallback, EvaluationContext context) {
    FlagEvaluationDetails<?> details = features.getIntegerDetails(key, (int) fallback, context);
    return details.getErrorCode() == ErrorCode.TYPE_MISMATCH ? features.getLongDetails(key, fallback, context) : details;
  }

  private void steady(Map<?, ?> read, long forMs) {
    long end = System.nanoTime() + forMs * 1_000_000;
    do {
      assertEquals(read.get("expect"), read(read));
      sleep();
    } while (System.nanoTime() < end);
  }

  private void event(Map<String, Object> step) {
    Map<?, ?> expected = (Map<?, ?>) step.get("expect");
    List<?> keys = (List<?>) expected.get("keys");
    long end = System.nanoTime() + millis(step, "withinMs") * 1_000_000;
    StringBuilder seen = new StringBuilder();
    for (; ; ) {
      Event event = events.poll();
      if (event == null) {
        pause(end, "it did not come; seen: " + seen);
        continue;
      }
      seen.append(event).append(' ');
      boolean isSame = keys == null || event.keys != null && Set.copyOf(event.keys).equals(Set.copyOf(keys));
      if (event.type.equals(expected.get("type")) && isSame) return;
    }
  }

  private void eventually(Map<String, Object> step, Supplier<Object> actual) {
    long end = System.nanoTime() + millis(step, "withinMs") * 1_000_000;
    for (; ; ) {
      Object is = actual.get();
      if (is.equals(step.get("expect"))) return;
      pause(end, "it is " + is);
    }
  }

  private static void pause(long end, String reason) {
    if (System.nanoTime() > end) fail(reason);
    sleep();
  }

  private static void sleep() {
    try {
      Thread.sleep(5);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  private static long millis(Map<?, ?> step, String name) {
    return ((Number) step.get(name)).longValue();
  }

  private static String write(Object json) {
    StringBuilder text = new StringBuilder();
    Json.write(text, json);
    return text.toString();
  }

  /** With numbers as the parser has them. */
  @SuppressWarnings("unchecked") // an object comes back as one
  private static Map<String, Object> asParsed(Map<String, Object> json) {
    return (Map<String, Object>) Json.parse(write(json));
  }
}
