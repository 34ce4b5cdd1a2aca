package dev.halyard;

import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.EvaluationContext;
import dev.openfeature.sdk.FlagEvaluationDetails;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import dev.openfeature.sdk.Value;
import dev.openfeature.sdk.exceptions.OpenFeatureError;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The program of {@code bun run interop} and of the campaign: a step per line as JSON, an answer per line; interop/README.md has the
 * steps. After {@code watch} a line follows for each change of the flag, until the input ends.
 */
final class Interop {
  private static final OpenFeatureAPI API = OpenFeatureAPI.getInstance();
  private static final Client FEATURES = API.getClient();
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private static HalyardClient client;

  private Interop() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    print(Map.of("provider", "0.1.0", "runtime", "Java " + System.getProperty("java.version")));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) print(answer((Map<?, ?>) Json.parse(line)));
    if (client != null) client.close();
    System.exit(0);
  }

  private static Object answer(Map<?, ?> step) throws InterruptedException {
    return switch ((String) step.get("do")) {
      case "connect" -> connect(step);
      case "evaluate" -> evaluate(step, (String) step.get("targetingKey"));
      case "time" -> timeReads(step);
      case "memory" -> Map.of("bytes", Bench.used());
      case "watch" -> watch((String) step.get("key"));
      default -> {
        List<Object> values = new ArrayList<>();
        for (Object target : (List<?>) step.get("targetingKeys")) values.add(evaluate(step, (String) target).get("value"));
        yield Map.of("values", values);
      }
    };
  }

  /** The client takes the key and the environment by themselves, and sends the key in its one header. */
  private static Object connect(Map<?, ?> step) {
    URI url = URI.create((String) step.get("url"));
    Map<?, ?> headers = (Map<?, ?>) step.get("headers");
    Matcher path = Pattern.compile("/environments/([^/]+).*").matcher(url.getPath());
    Object environment = path.matches() ? path.group(1) : headers.get("X-Flags-Environment");
    String key = null;
    for (Object value : headers.values()) key = key == null || value.toString().contains("proj_") ? value.toString() : key;

    HalyardClient before = client;
    client =
        new HalyardClient(
            HalyardOptions.builder()
                .baseUrl(url.resolve("/").toString())
                .apiKey(key == null ? null : key.replace("Bearer ", ""))
                .environment((String) environment)
                .build());
    try {
      API.setProviderAndWait(new HalyardProvider(client));
    } catch (OpenFeatureError failure) {
      // Reads say why.
    }
    if (before != null) before.close();
    return Map.of();
  }

  private static Map<String, Object> evaluate(Map<?, ?> step, String target) {
    Map<String, Value> attributes = new HashMap<>();
    if (step.get("attributes") instanceof Map<?, ?> given)
      given.forEach((name, value) -> attributes.put((String) name, Value.objectToValue(value)));
    FlagEvaluationDetails<?> details =
        details(step, target == null ? new ImmutableContext(attributes) : new ImmutableContext(target, attributes));

    Map<String, Object> answer = new HashMap<>();
    answer.put("value", details.getValue() instanceof Value value ? OpenFeatureJson.toJson(value) : details.getValue());
    if (details.getReason() != null) answer.put("reason", details.getReason());
    if (details.getVariant() != null) answer.put("variant", details.getVariant());
    if (details.getErrorCode() != null) answer.put("errorCode", details.getErrorCode().name());
    answer.put("metadata", details.getFlagMetadata().asUnmodifiableMap());
    return answer;
  }

  private static FlagEvaluationDetails<?> details(Map<?, ?> step, EvaluationContext context) {
    String key = (String) step.get("key");
    Object fallback = step.get("default");
    return switch ((String) step.get("type")) {
      case "boolean" -> FEATURES.getBooleanDetails(key, (Boolean) fallback, context);
      case "string" -> FEATURES.getStringDetails(key, (String) fallback, context);
      case "integer" -> FEATURES.getIntegerDetails(key, ((Number) fallback).intValue(), context);
      case "float" -> FEATURES.getDoubleDetails(key, ((Number) fallback).doubleValue(), context);
      default -> FEATURES.getObjectDetails(key, Value.objectToValue(fallback), context);
    };
  }

  private static Map<String, Object> timeReads(Map<?, ?> step) {
    String key = (String) step.get("key");
    EvaluationContext user = new ImmutableContext((String) step.get("targetingKey"));
    long limit = ((Number) step.get("ms")).longValue() * 1_000_000L;
    long begun = System.nanoTime();
    long reads = 0;
    while (System.nanoTime() - begun < limit) {
      for (int i = 0; i < 100; i++) FEATURES.getBooleanValue(key, false, user);
      reads += 100;
    }
    return Map.of("reads", reads, "nanoseconds", System.nanoTime() - begun);
  }

  private static Object watch(String key) {
    client.addListener(
        new HalyardListener() {
          @Override
          public void onChange(Set<String> keys) {
            if (keys.contains(key)) print(seen(key));
          }
        });
    return seen(key);
  }

  /** The flag and its revision, of one and the same map. */
  private static Map<String, Object> seen(String key) {
    View view = client.store.view;
    Map<String, Object> line = new HashMap<>();
    line.put("key", key);
    line.put("revision", view.revision() == RevisionGate.NONE ? null : view.revision());
    Evaluation now = client.decide(view, key, null);
    line.put("enabled", now.enabled());
    if (now.state() != null && now.state().hasValue()) line.put("value", now.state().value());
    return line;
  }

  private static synchronized void print(Object json) {
    StringBuilder line = new StringBuilder();
    Json.write(line, json);
    OUT.println(line);
  }
}
