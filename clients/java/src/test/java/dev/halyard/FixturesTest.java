package dev.halyard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.ProviderEvaluation;
import dev.openfeature.sdk.Value;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The facts that clients of every language agree on: conformance/fixtures. */
class FixturesTest {
  @Test
  void hashesAndBuckets() { // C4.1
    for (Map<String, Object> each : Repository.fixture("rollout.json", "hashes"))
      assertEquals(((Number) each.get("hash")).longValue(), Integer.toUnsignedLong(Rollout.murmur3((String) each.get("text"))));
    for (Map<String, Object> each : Repository.fixture("rollout.json", "buckets"))
      assertEquals(
          ((Number) each.get("bucket")).longValue(),
          Rollout.bucket((String) each.get("flagKey"), (String) each.get("targetingKey")));
  }

  @Test
  void halfOfASurrogatePairCountsAsTheReplacementCharacter() { // C4.5
    assertEquals(Rollout.murmur3("\uFFFD:\uFFFD"), Rollout.murmur3("\uD83D:\uDE42"));
  }

  @TestFactory
  Stream<DynamicTest> evaluations() { // C1.3, C1.4, C4.1, C4.3
    return Repository.fixture("evaluation.json", "cases").stream()
        .map(each -> DynamicTest.dynamicTest((String) each.get("name"), () -> checkEvaluation(each)));
  }

  private static void checkEvaluation(Map<String, Object> each) {
    String key = (String) each.get("flagKey");
    String target = (String) each.get("targetingKey");
    Map<String, Object> flags = new HashMap<>(Map.of("another", Map.of("enabled", true)));
    if (each.containsKey("state")) flags.put(key, each.get("state"));
    StringBuilder bootstrap = new StringBuilder();
    Json.write(bootstrap, flags);
    // It has no key, and so makes no requests.
    try (HalyardClient client =
        new HalyardClient(HalyardOptions.builder().environment("test").bootstrap(bootstrap.toString()).build())) {
      Map<?, ?> expected = (Map<?, ?>) each.get("expected");
      Evaluation read = client.evaluate(key, target);
      assertEquals(expected.get("isOn"), read.enabled());
      String reason = read.reason().name().toLowerCase(Locale.ROOT);
      assertEquals(expected.get("reason"), reason.equals("not_found") ? "missing" : reason);
      if (expected.containsKey("value")) assertEquals(expected.get("value"), read.value());

      checkProvider((Map<?, ?>) expected.get("ofrep"), new HalyardProvider(client), key, target);
    }
  }

  private static void checkProvider(Map<?, ?> expected, HalyardProvider provider, String key, String target) {
    ImmutableContext context = target == null ? new ImmutableContext() : new ImmutableContext(target);
    Object value = expected.get("value");
    ProviderEvaluation<?> answer =
        value instanceof Boolean || expected.containsKey("errorCode")
            ? provider.getBooleanEvaluation(key, !Boolean.TRUE.equals(value), context)
            : value instanceof String
                ? provider.getStringEvaluation(key, "default", context)
                : value instanceof Number
                    ? provider.getDoubleEvaluation(key, 1.5, context)
                    : provider.getObjectEvaluation(key, new Value("default"), context);

    assertEquals(expected.get("errorCode"), answer.getErrorCode() == null ? null : answer.getErrorCode().name());
    assertEquals(expected.get("variant"), answer.getVariant());
    if (expected.containsKey("reason"))
      assertEquals("on".equals(expected.get("variant")) ? "CACHED" : expected.get("reason"), answer.getReason());
    Object given = answer.getValue() instanceof Value object ? OpenFeatureJson.toJson(object) : answer.getValue();
    if (value instanceof Number number) assertEquals(number.doubleValue(), given);
    else if (expected.containsKey("value")) assertEquals(value, given);
  }

  @TestFactory
  Stream<DynamicTest> eventStreams() { // C2.3, C2.4
    return Repository.fixture("event-stream.json", "cases").stream()
        .map(each -> DynamicTest.dynamicTest((String) each.get("name"), () -> checkStream(each)));
  }

  /** What a reader found: events without a name, comments and reconnection times. */
  private record Found(List<String> data, List<String> comments, List<Long> retries) {}

  private static void checkStream(Map<String, Object> each) {
    byte[] bytes =
        each.containsKey("hex")
            ? HexFormat.of().parseHex((String) each.get("hex"))
            : ((String) each.get("text")).getBytes(StandardCharsets.UTF_8);
    List<String> data = new ArrayList<>();
    for (Map<String, Object> event : Repository.objects(each.get("events")))
      if (!event.containsKey("type")) data.add((String) event.get("data"));
    List<?> retries = (List<?>) each.getOrDefault("retries", List.of());

    for (int cut = 0; cut <= bytes.length; cut++) {
      Found found = read(Arrays.copyOf(bytes, cut), Arrays.copyOfRange(bytes, cut, bytes.length));
      assertEquals(data, found.data, "cut at " + cut);
      assertEquals(each.getOrDefault("comments", 0), found.comments.size());
      assertEquals(retries.toString(), found.retries.toString());
    }
    byte[][] single = new byte[bytes.length * 2][];
    for (int i = 0; i < bytes.length; i++) {
      single[2 * i] = new byte[] {bytes[i]};
      single[2 * i + 1] = new byte[0];
    }
    assertEquals(data, read(single).data);
  }

  private static Found read(byte[]... pieces) {
    Found found = new Found(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    EventStream stream =
        new EventStream() {
          @Override
          void onData(String text) {
            found.data.add(text);
          }

          @Override
          void onComment(String text) {
            found.comments.add(text);
          }

          @Override
          void onRetry(long ms) {
            found.retries.add(ms);
          }
        };
    for (byte[] piece : pieces) stream.feed(piece);
    return found;
  }

  @TestFactory
  Stream<DynamicTest> revisions() { // C2.19, C2.21
    return Repository.fixture("revisions.json", "cases").stream()
        .map(each -> DynamicTest.dynamicTest((String) each.get("name"), () -> checkRevisions(each)));
  }

  private static void checkRevisions(Map<String, Object> each) {
    AtomicLong now = new AtomicLong();
    RevisionGate gate = new RevisionGate(now::get);
    Map<Object, Long> asked = new HashMap<>();
    for (Map<String, Object> step : Repository.objects(each.get("steps"))) {
      if (step.containsKey("ask")) asked.put(step.get("ask"), gate.tick());
      if (step.containsKey("waitMs")) now.addAndGet((Integer) step.get("waitMs"));
      if (!(step.get("offer") instanceof Map<?, ?> offer)) continue;
      long revision = offer.get("revision") instanceof Number number ? number.longValue() : RevisionGate.NONE;
      Long askedAt = asked.get(offer.get("askedAs"));
      RevisionGate.Verdict verdict =
          gate.judge(revision, askedAt == null ? gate.tick() : askedAt, (Boolean) offer.get("isSighting"));
      assertEquals(((String) step.get("verdict")).toUpperCase(Locale.ROOT), verdict.name(), step::toString);
    }
  }
}
