package dev.halyard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contract of all clients, against the server of broken behaviors. */
class ContractTest {
  /** The clause whose scenarios move megabytes: they would hold up the others, whose time is scaled. */
  private static final String OF_SIZE = "C2.10";

  private static Repository.Program program;
  private static String server;

  @BeforeAll
  static void start() throws IOException {
    program = Repository.start(Map.of(), "conformance/clients/serve.ts");
    server = (String) ((Map<?, ?>) Json.parse(program.output().readLine())).get("url");
  }

  @AfterAll
  static void stop() {
    program.close();
  }

  @TestFactory
  @Execution(ExecutionMode.CONCURRENT) // they wait most of the time
  Stream<DynamicTest> scenarios(@TempDir Path folder) {
    return load(folder, clause -> !clause.equals(OF_SIZE));
  }

  @TestFactory
  Stream<DynamicTest> scenariosOfSize(@TempDir Path folder) {
    return load(folder, OF_SIZE::equals);
  }

  private static Stream<DynamicTest> load(Path folder, Predicate<String> isChosen) {
    String only = System.getProperty("scenario", "");
    return Repository.objects(Repository.ask("GET", server + "/scenarios", null).body()).stream()
        .filter(scenario -> isChosen.test((String) scenario.get("clause")))
        .filter(scenario -> scenario.get("name").toString().contains(only))
        .map(
            scenario -> {
              String name = (String) scenario.get("name");
              List<Map<String, Object>> steps = Repository.objects(scenario.get("steps"));
              return DynamicTest.dynamicTest(
                  scenario.get("clause") + " " + name,
                  () -> new Scenario(server, name, Files.createDirectory(folder.resolve(name))).perform(steps));
            });
  }

  @Test
  void tenThousandTargetsGetTheSameAnswer() { // C4.2
    List<Map<String, Object>> targets =
        Repository.objects(Repository.ask("GET", server + "/targets?seed=1&count=10000", null).body());
    assertEquals(10_000, targets.size());
    for (Map<String, Object> target : targets) {
      double pct = ((Number) target.get("rolloutPct")).doubleValue();
      boolean isIn = Rollout.includes((String) target.get("flagKey"), (String) target.get("targetingKey"), pct);
      assertEquals(target.get("isIn"), isIn, target::toString);
    }
  }
}
