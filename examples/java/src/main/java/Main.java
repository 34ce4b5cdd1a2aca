// snippet
import dev.halyard.HalyardOptions;
import dev.halyard.HalyardProvider;
import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
import dev.openfeature.sdk.exceptions.OpenFeatureError;
// end of snippet

public class Main {
  public static void main(String[] args) {
    // snippet
    HalyardOptions options = HalyardOptions.builder()
        .baseUrl("http://127.0.0.1:7070")
        .apiKey(System.getenv("HALYARD_KEY"))
        .environment("development")
        .build();
    try {
      OpenFeatureAPI.getInstance().setProviderAndWait(new HalyardProvider(options));
    } catch (OpenFeatureError error) {
      System.err.println(error.getMessage()); // reads give defaults until the cause has passed
    }
    Client flags = OpenFeatureAPI.getInstance().getClient();
    boolean isOn = flags.getBooleanValue("dark-mode", false, new ImmutableContext("user-1"));
    // end of snippet

    System.out.println("dark-mode " + isOn);
    OpenFeatureAPI.getInstance().shutdown();
  }
}
