package dev.halyard;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The repository that this client is a part of: its fixtures, and programs that are started with Bun. */
final class Repository {
  static final Path ROOT = root();

  private static final HttpClient HTTP = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).build();

  private Repository() {}

  /** A program of the repository, which ends when its input does. */
  record Program(Process process, BufferedReader output) implements AutoCloseable {
    @Override
    public void close() {
      try {
        process.getOutputStream().close();
        if (!process.waitFor(5, TimeUnit.SECONDS)) process.destroyForcibly();
      } catch (IOException | InterruptedException ended) {
        process.destroyForcibly();
      }
    }
  }

  /** An answer: its status and its JSON. */
  record Answer(int status, Object body) {}

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("conformance/fixtures"))) folder = folder.getParent();
    return folder;
  }

  static List<Map<String, Object>> fixture(String name, String member) {
    try {
      String text = Files.readString(ROOT.resolve("conformance/fixtures/" + name));
      return objects(((Map<?, ?>) Json.parse(text)).get(member));
    } catch (IOException missing) {
      throw new UncheckedIOException(missing);
    }
  }

  @SuppressWarnings("unchecked") // tests know what they read
  static List<Map<String, Object>> objects(Object json) {
    return (List<Map<String, Object>>) json;
  }

  /** Starts a program with Bun. */
  static Program start(Map<String, String> environment, String... arguments) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(arguments).directory(ROOT.toFile());
    builder.command().add(0, System.getenv().getOrDefault("BUN", "bun"));
    builder.environment().putAll(environment);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    Process process = builder.start();
    return new Program(process, process.inputReader());
  }

  static Answer ask(String method, String url, Object body, String... headers) {
    try {
      StringBuilder json = new StringBuilder();
      if (body != null) Json.write(json, body);
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(url)).method(method, HttpRequest.BodyPublishers.ofString(json.toString()));
      if (body != null) request.header("Content-Type", "application/json");
      if (headers.length > 0) request.headers(headers);
      HttpResponse<String> answer = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return new Answer(answer.statusCode(), answer.body().isEmpty() ? null : Json.parse(answer.body()));
    } catch (IOException failure) {
      throw new UncheckedIOException(method + " " + url, failure);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
