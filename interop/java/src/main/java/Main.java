import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.openfeature.contrib.providers.ofrep.OfrepProvider;
import dev.openfeature.contrib.providers.ofrep.OfrepProviderOptions;
import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.EvaluationContext;
import dev.openfeature.sdk.FlagEvaluationDetails;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import dev.openfeature.sdk.Structure;
import dev.openfeature.sdk.Value;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Main {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final OpenFeatureAPI API = OpenFeatureAPI.getInstance();
  private static final Client CLIENT = API.getClient();

  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    String provider = OfrepProvider.class.getProtectionDomain().getCodeSource().getLocation().getPath()
        .replaceAll(".*ofrep-(.*)\\.jar", "$1");
    out.println(JSON.writeValueAsString(
        Map.of("provider", provider, "runtime", "Java " + System.getProperty("java.version"))));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
    }
    API.shutdown();
  }

  private static Map<String, Object> answer(JsonNode step) {
    switch (step.get("do").asText()) {
      case "connect":
        ImmutableMap.Builder<String, ImmutableList<String>> headers = ImmutableMap.builder();
        step.get("headers").fields()
            .forEachRemaining(header -> headers.put(header.getKey(), ImmutableList.of(header.getValue().asText())));
        API.setProviderAndWait(OfrepProvider.constructProvider(OfrepProviderOptions.builder()
            .baseUrl(step.get("url").asText()).headers(headers.build()).build()));
        return Map.of();
      case "time":
        return timeReads(step);
      case "evaluate":
        JsonNode target = step.get("targetingKey");
        Map<String, Value> attributes = new HashMap<>();
        if (step.has("attributes")) {
          step.get("attributes").fields().forEachRemaining(each -> attributes.put(each.getKey(), toValue(each.getValue())));
        }
        return evaluate(step, target == null
            ? new ImmutableContext(attributes) : new ImmutableContext(target.asText(), attributes));
      default:
        List<Object> values = new ArrayList<>();
        step.get("targetingKeys")
            .forEach(each -> values.add(evaluate(step, new ImmutableContext(each.asText())).get("value")));
        return Map.of("values", values);
    }
  }

  private static Map<String, Object> evaluate(JsonNode step, EvaluationContext context) {
    FlagEvaluationDetails<?> details = details(step, context);
    Map<String, Object> answer = new HashMap<>();
    Object value = details.getValue();
    answer.put("value", value instanceof Value ? toJson((Value) value) : value);
    answer.put("reason", details.getReason());
    answer.put("variant", details.getVariant());
    answer.put("errorCode", details.getErrorCode() == null ? null : details.getErrorCode().name());
    answer.put("metadata", details.getFlagMetadata().asUnmodifiableMap());
    return answer;
  }

  private static Map<String, Object> timeReads(JsonNode step) {
    String key = step.get("key").asText();
    EvaluationContext user = new ImmutableContext(step.get("targetingKey").asText());
    long limit = step.get("ms").asLong() * 1_000_000L;
    long begun = System.nanoTime();
    long reads = 0;
    while (System.nanoTime() - begun < limit) {
      for (int i = 0; i < 100; i++) CLIENT.getBooleanValue(key, false, user);
      reads += 100;
    }
    return Map.of("reads", reads, "nanoseconds", System.nanoTime() - begun);
  }

  private static FlagEvaluationDetails<?> details(JsonNode step, EvaluationContext context) {
    String key = step.get("key").asText();
    JsonNode fallback = step.get("default");
    switch (step.get("type").asText()) {
      case "boolean":
        return CLIENT.getBooleanDetails(key, fallback.asBoolean(), context);
      case "string":
        return CLIENT.getStringDetails(key, fallback.asText(), context);
      case "integer":
        return CLIENT.getIntegerDetails(key, fallback.asInt(), context);
      case "float":
        return CLIENT.getDoubleDetails(key, fallback.asDouble(), context);
      default:
        return CLIENT.getObjectDetails(key, toValue(fallback), context);
    }
  }

  private static Value toValue(JsonNode json) {
    return Value.objectToValue(JSON.convertValue(json, Object.class));
  }

  private static Object toJson(Value value) {
    if (value.isStructure()) {
      Structure structure = value.asStructure();
      Map<String, Object> members = new HashMap<>();
      structure.asMap().forEach((name, member) -> members.put(name, toJson(member)));
      return members;
    }
    if (!value.isList()) {
      return value.asObject();
    }
    List<Object> items = new ArrayList<>();
    value.asList().forEach(item -> items.add(toJson(item)));
    return items;
  }
}
