package dev.halyard;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server that streams one map, or does what a test says. */
final class Server implements AutoCloseable {
  static final String KEY = "proj_live_secret";

  final List<String> paths = new CopyOnWriteArrayList<>();
  private final List<OutputStream> streams = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpServer http;

  private Server(HttpHandler handler) throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(threads);
    http.createContext(
        "/",
        exchange -> {
          paths.add(exchange.getRequestURI().getPath());
          handler.handle(exchange);
        });
    http.start();
  }

  /** A server that does what the handler says. */
  static Server of(HttpHandler handler) throws IOException {
    return new Server(handler);
  }

  /** A server that streams a map, and further ones that are published. */
  static Server streaming(String flags) throws IOException {
    Server[] server = new Server[1];
    server[0] = new Server(exchange -> server[0].stream(exchange, flags));
    return server[0];
  }

  private void stream(HttpExchange exchange, String flags) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.getResponseHeaders().set("X-Flags-Revision", "1");
    exchange.sendResponseHeaders(200, 0);
    write(exchange.getResponseBody(), flags);
    streams.add(exchange.getResponseBody());
  }

  private static void write(OutputStream stream, String flags) throws IOException {
    stream.write(("data: " + flags + "\n\n").getBytes(StandardCharsets.UTF_8));
    stream.flush();
  }

  void publish(String flags) throws IOException {
    for (OutputStream stream : streams) write(stream, flags);
  }

  HalyardOptions.Builder options() {
    return HalyardOptions.builder().baseUrl(url()).apiKey(KEY).environment("production");
  }

  String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  @Override
  public void close() {
    http.stop(0);
    threads.shutdownNow();
  }
}
