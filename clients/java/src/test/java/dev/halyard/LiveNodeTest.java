package dev.halyard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import dev.openfeature.sdk.ProviderState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The provider against a real node, which is killed and comes back. */
class LiveNodeTest {
  private static final String ADMIN_TOKEN = "hat_" + "x".repeat(43);
  private static final OpenFeatureAPI API = OpenFeatureAPI.getInstance();

  @Test
  void followsANodeThatIsKilledAndComesBack(@TempDir Path data) throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    String url = "http://127.0.0.1:" + port;

    try {
      try (Repository.Program node = serve(port, data)) {
        manage("POST", url, "/api/projects", Map.of("name", "live"));
        Map<?, ?> made = manage("POST", url, "/api/projects/live/keys", Map.of("name", "java", "environments", java.util.List.of("production")));
        put(url, true);
        HalyardOptions options =
            HalyardOptions.builder().baseUrl(url).apiKey((String) made.get("key")).environment("production").timeScale(0.1).build();
        API.setProviderAndWait("live", new HalyardProvider(options));
        assertTrue(isOn());

        for (int i = 0; i < 5; i++) {
          boolean isOn = i % 2 == 1;
          put(url, isOn);
          until(1_000, () -> isOn() == isOn); // a change is seen in less than a second
        }
        node.process().destroyForcibly().onExit().join();
      }
      until(20_000, () -> API.getClient("live").getProviderState() == ProviderState.STALE);
      assertEquals(false, isOn()); // the flags of before

      try (Repository.Program node = serve(port, data)) {
        put(url, true);
        until(20_000, () -> API.getClient("live").getProviderState() == ProviderState.READY && isOn());
        assertEquals("STATIC", API.getClient("live").getBooleanDetails("flag", false).getReason());
        node.process().destroyForcibly().onExit().join();
      }
    } finally {
      API.shutdown();
    }
  }

  private static boolean isOn() {
    Client features = API.getClient("live");
    return features.getBooleanValue("flag", false, new ImmutableContext("ana"));
  }

  private static Repository.Program serve(int port, Path data) throws IOException {
    Repository.Program node =
        Repository.start(
            Map.of("HALYARD_ADMIN_TOKEN", ADMIN_TOKEN, "HALYARD_DRAIN_SECONDS", "1"),
            "packages/server/src/main.ts", "serve", "--bare", "--port", String.valueOf(port), "--data", data.toString());
    Thread reader = new Thread(() -> node.output().lines().forEach(line -> {}), "output of the node");
    reader.setDaemon(true);
    reader.start();
    until(60_000, () -> isReady("http://127.0.0.1:" + port));
    return node;
  }

  private static boolean isReady(String url) {
    try {
      return Repository.ask("GET", url + "/readyz", null).status() == 200;
    } catch (RuntimeException notYet) {
      return false;
    }
  }

  private static void put(String url, boolean enabled) {
    manage("PUT", url, "/api/projects/live/environments/production/flags/flag", Map.of("enabled", enabled));
  }

  private static Map<?, ?> manage(String method, String url, String path, Object body) {
    Repository.Answer answer = Repository.ask(method, url + path, body, "Authorization", "Bearer " + ADMIN_TOKEN);
    assertTrue(answer.status() < 300, answer::toString);
    return (Map<?, ?>) answer.body();
  }

  private static void until(long ms, BooleanSupplier isSo) {
    long end = System.nanoTime() + ms * 1_000_000;
    while (!isSo.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "it did not happen in time");
      Thread.onSpinWait();
    }
  }
}
