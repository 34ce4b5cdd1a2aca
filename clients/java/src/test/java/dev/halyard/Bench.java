package dev.halyard;

import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.EvaluationContext;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;

/** What a read costs beside one of a {@code HashMap}, and what flags cost in memory. A program: no test holds its figures. */
final class Bench {
  private static final int FLAGS = 10_000;
  private static final int READS = 5_000_000;
  private static final int ROUNDS = 5;

  private Bench() {}

  public static void main(String[] args) throws Exception {
    String[] keys = new String[FLAGS];
    StringBuilder json = new StringBuilder("{");
    Map<String, Boolean> plain = new HashMap<>();
    for (int i = 0; i < FLAGS; i++) {
      keys[i] = "flag-" + i;
      plain.put("flag-" + i, true);
      json.append(i == 0 ? "" : ",").append("\"flag-").append(i).append("\":{\"enabled\":true");
      json.append(i % 10 == 0 ? ",\"rolloutPct\":50}" : "}");
    }
    json.append('}');

    try (Server server = Server.streaming(json.toString());
        Server small = Server.streaming("{}");
        HalyardClient empty = new HalyardClient(small.options().build())) {
      empty.ready().join(); // what the classes and the JDK's HTTP client cost comes once
      long before = used();
      HalyardClient client = new HalyardClient(server.options().build());
      client.ready().join();
      System.out.printf("%,d flags: %,d KB%n", FLAGS, (used() - before) / 1024);

      OpenFeatureAPI.getInstance().setProviderAndWait(new HalyardProvider(client));
      Client features = OpenFeatureAPI.getInstance().getClient();
      EvaluationContext ana = new ImmutableContext("ana");
      measure("HashMap.get", 1, i -> plain.get(keys[i]));
      measure("isEnabled(key)", 1, i -> client.isEnabled(keys[i]));
      measure("isEnabled(key, target), a tenth in a rollout", 1, i -> client.isEnabled(keys[i], "user-1234"));
      measure("OpenFeature getBooleanValue", 10, i -> features.getBooleanValue(keys[i], false, ana));
      OpenFeatureAPI.getInstance().shutdown();
      client.close();
    }
    System.exit(0);
  }

  private static void measure(String name, int slower, IntPredicate read) {
    double best = Double.MAX_VALUE;
    int on = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      for (int i = 0; i < READS / slower; i++) if (read.test(i % FLAGS)) on++;
      best = Math.min(best, (double) (System.nanoTime() - start) / (READS / slower));
    }
    System.out.printf("%-46s %6.1f ns  (%d on)%n", name, best, on);
  }

  /** The bytes in use on the heap. */
  static long used() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(100);
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
