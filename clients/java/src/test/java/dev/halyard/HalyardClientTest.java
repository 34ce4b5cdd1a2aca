package dev.halyard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.openfeature.sdk.ErrorCode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What the scenarios cannot see: objects, listeners, threads. */
class HalyardClientTest {
  private static final String FLAGS =
      "{\"on\":{\"enabled\":true},\"size\":{\"enabled\":true,\"value\":7},\"list\":{\"enabled\":true,\"value\":[1,{\"a\":2}]}}";

  @Test
  void readsValuesByTheTypeOfTheirDefault() throws Exception { // C1.2
    try (Server server = Server.streaming(FLAGS);
        HalyardClient client = new HalyardClient(server.options().build())) {
      assertEquals(Ready.Outcome.READY, client.ready().join().outcome());
      assertTrue(client.isEnabled("on"));
      assertEquals(7, client.getValue("size", null, 1));
      assertEquals(7.0, client.getValue("size", null, 1.5));
      assertEquals(7L, client.getValue("size", null, 1L));
      assertEquals("default", client.getValue("size", null, "default"));
      assertEquals(List.of(1, Map.of("a", 2)), client.getValue("list", null, List.of()));
      assertEquals(5, client.getValue("missing", null, 5));
      assertFalse(client.isEnabled(null));
    }
  }

  @Test
  void whatAReadGivesOutCannotChangeTheMap() throws Exception { // C1.11
    try (Server server = Server.streaming(FLAGS);
        HalyardClient client = new HalyardClient(server.options().build())) {
      client.ready().join();
      List<Object> list = client.getValue("list", null, List.of());
      assertThrows(UnsupportedOperationException.class, () -> list.add(3));
      assertThrows(UnsupportedOperationException.class, () -> ((Map<?, ?>) list.get(1)).clear());
      assertThrows(UnsupportedOperationException.class, () -> client.all().clear());

      HalyardProvider provider = new HalyardProvider(client);
      var value = provider.getObjectEvaluation("list", new dev.openfeature.sdk.Value(), null).getValue();
      value.asList().clear();
      assertEquals(List.of(1, Map.of("a", 2)), client.getValue("list", null, List.of()));
    }
  }

  @Test
  void theListenerOfReadsHearsOfEachAndDisturbsNone() throws Exception { // C1.10
    List<Evaluation> reads = new ArrayList<>();
    try (Server server = Server.streaming(FLAGS);
        HalyardClient client =
            new HalyardClient(
                server
                    .options()
                    .onRead(
                        read -> {
                          reads.add(read);
                          throw new IllegalStateException("on purpose");
                        })
                    .build())) {
      client.ready().join();
      assertTrue(client.isEnabled("on", "ana"));
      new HalyardProvider(client).getBooleanEvaluation("missing", true, null);
      assertEquals(List.of(Evaluation.Reason.STATIC, Evaluation.Reason.NOT_FOUND), reads.stream().map(Evaluation::reason).toList());
      assertEquals("ana", reads.get(0).targetingKey());
    }
  }

  @Test
  void aListenerThatThrowsDisturbsNeitherTheClientNorOthers() throws Exception { // C3.7
    BlockingQueue<Set<String>> heard = new LinkedBlockingQueue<>();
    try (Server server = Server.streaming(FLAGS);
        HalyardClient client = new HalyardClient(server.options().build())) {
      client.addListener(
          new HalyardListener() {
            @Override
            public void onChange(Set<String> keys) {
              throw new IllegalStateException("on purpose");
            }
          });
      HalyardListener second =
          new HalyardListener() {
            @Override
            public void onChange(Set<String> keys) {
              heard.add(keys);
            }
          };
      client.addListener(second);
      client.ready().join();
      server.publish("{\"on\":{\"enabled\":false}}");
      while (client.isEnabled("on")) Thread.onSpinWait();
      List<Set<String>> all = new ArrayList<>();
      while (!all.contains(Set.of("on", "size", "list"))) all.add(heard.poll(5, TimeUnit.SECONDS));

      client.removeListener(second);
      server.publish(FLAGS);
      while (!client.isEnabled("on")) Thread.onSpinWait();
      assertEquals(2, client.revision().orElseThrow() - 1);
    }
  }

  @Test
  void aListenerMayCloseTheClientAndNoThreadIsLeft() throws Exception { // C8.1
    try (Server server = Server.streaming(FLAGS)) {
      Set<Thread> before = Thread.getAllStackTraces().keySet();
      HalyardClient client = new HalyardClient(server.options().build());
      CompletableFuture<Void> closed = new CompletableFuture<>();
      client.addListener(
          new HalyardListener() {
            @Override
            public void onStatus(Status status) {
              client.close();
              closed.complete(null);
            }
          });
      client.ready().join();
      server.publish("{}");
      client.close();
      assertEquals(Status.CLOSED, client.status());
      assertEquals(Ready.Outcome.FAILED, client.ready().get(1, TimeUnit.SECONDS).outcome());
      assertEquals("client_closed", client.ready().join().error().code());
      Set<Thread> left = Thread.getAllStackTraces().keySet();
      left.removeAll(before);
      left.removeIf(each -> !each.getName().matches("halyard-.*|HttpClient-.*-SelectorManager"));
      long end = System.nanoTime() + 20_000_000_000L;
      while (left.stream().anyMatch(Thread::isAlive)) {
        System.gc(); // before Java 21, the JDK's HTTP client ends as garbage
        assertTrue(System.nanoTime() < end, left::toString);
      }
    }
  }

  @Test
  void whatWaitsForTheFirstLoadHoldsUpNothing() throws Exception {
    try (Server server = Server.streaming(FLAGS);
        HalyardClient client = new HalyardClient(server.options().build())) {
      String thread = client.ready().thenApply(ready -> Thread.currentThread().getName()).join();
      assertNotEquals("halyard-production", thread);
    }
  }

  @Test
  void theKeyIsInNoText() throws Exception { // C5.1
    BlockingQueue<HalyardException> errors = new LinkedBlockingQueue<>();
    String body = "{\"error\":\"invalid_api_key\",\"message\":\"the key " + Server.KEY + " is wrong\"}";
    try (Server server =
            Server.of(
                exchange -> {
                  exchange.sendResponseHeaders(401, 0);
                  exchange.getResponseBody().write(body.getBytes(StandardCharsets.UTF_8));
                  exchange.close();
                });
        HalyardClient client = new HalyardClient(server.options().apiKey(" " + Server.KEY + "\n").onError(errors::add).build())) {
      HalyardException error = client.ready().join().error();
      assertEquals("HalyardException[invalid_api_key: the key [redacted] is wrong]", error.toString());
      assertEquals(401, errors.poll(5, TimeUnit.SECONDS).status());
      assertFalse((client + " " + client.options).contains(Server.KEY));
    }
  }

  @Test
  void proxiesGetNoKey() throws Exception { // C5.4
    try (Server flags = Server.streaming(FLAGS);
        ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Map<String, String> properties = new HashMap<>(Map.of("http.nonProxyHosts", ""));
      for (String scheme : List.of("http", "https")) {
        properties.put(scheme + ".proxyHost", "127.0.0.1");
        properties.put(scheme + ".proxyPort", String.valueOf(proxy.getLocalPort()));
      }
      properties.forEach(System::setProperty);
      try (HalyardClient plain = new HalyardClient(flags.options().build());
          HalyardClient secure = new HalyardClient(flags.options().baseUrl("https://flags.invalid").build());
          Socket asked = proxy.accept()) {
        assertEquals(Ready.Outcome.READY, plain.ready().join().outcome());
        BufferedReader reader = new BufferedReader(new InputStreamReader(asked.getInputStream()));
        List<String> lines = new ArrayList<>();
        for (String line = reader.readLine(); !line.isEmpty(); line = reader.readLine()) lines.add(line);
        assertEquals("CONNECT flags.invalid:443 HTTP/1.1", lines.get(0));
        assertFalse(lines.toString().contains(Server.KEY), lines::toString);
        assertEquals(Status.CONNECTING, secure.status());
      } finally {
        properties.keySet().forEach(System::clearProperty);
      }
    }
  }

  @Test
  void onlyLoopbackGetsTheKeyOverPlainHttp() { // C5.3
    for (String address : List.of("http://localhost:1", "http://127.8.9.1", "http://[::1]:7070/x/", "HTTP://a.localhost", "https://a.b"))
      assertEquals(null, problem(address, false), address);
    for (String address : List.of("http://a.b", "http://127.0.0.1.a.b", "http://localhost.a.b", "http://10.0.0.1", "http://[::2]"))
      assertTrue(problem(address, false).getMessage().contains("allowInsecureHttp"), address);
    assertEquals(null, problem("http://a.b", true));
    for (String address : List.of("", "a.b", "ftp://a.b", "http://", "http://u:p@localhost", "http://localhost?x", "http://localhost#x", "http://a b"))
      assertEquals("invalid_options", problem(address, true).code(), address);
  }

  private static HalyardException problem(String address, boolean allow) {
    return HalyardOptions.builder().apiKey("k").environment("e").baseUrl(address).allowInsecureHttp(allow).build().problem;
  }

  @Test
  void optionsThatCannotWorkThrowNothing() { // C5.5
    for (HalyardOptions.Builder options :
        List.of(
            HalyardOptions.builder(),
            HalyardOptions.builder().apiKey("k").environment("\uD800"),
            HalyardOptions.builder().apiKey("k k").environment("e"),
            HalyardOptions.builder().apiKey("k").environment("e").baseUrl(null),
            HalyardOptions.builder().apiKey("k").environment("e").requestTimeout(null),
            HalyardOptions.builder().apiKey("k").environment("e").readyTimeout(Duration.ofSeconds(-1)))) {
      try (HalyardClient client = new HalyardClient(options.build())) {
        assertEquals("invalid_options", client.ready().join().error().code());
        assertEquals(Status.FAILED, client.status());
        assertEquals("default", client.getValue("a", null, "default"));
      }
    }
    assertEquals(
        ErrorCode.PROVIDER_NOT_READY,
        new HalyardProvider(HalyardOptions.builder().build()).getBooleanEvaluation("a", true, null).getErrorCode());
  }

  @Test
  void retryAfterIsSecondsOrADate() { // C2.14
    assertEquals(2_000, Exchange.parseRetryAfter(" 2 "));
    assertEquals(3_600_000, Exchange.parseRetryAfter("99999999999999999999999"));
    assertEquals(3_600_000, Exchange.parseRetryAfter("Fri, 31 Dec 2100 23:59:59 GMT"));
    for (String text : List.of("", "soon", "-1", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT")) assertEquals(-1, Exchange.parseRetryAfter(text));
  }
}
