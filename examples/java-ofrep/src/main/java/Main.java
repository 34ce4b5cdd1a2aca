// snippet
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.openfeature.contrib.providers.ofrep.OfrepProvider;
import dev.openfeature.contrib.providers.ofrep.OfrepProviderOptions;
import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;
// end of snippet

public class Main {
  public static void main(String[] args) {
    // snippet
    OfrepProviderOptions options = OfrepProviderOptions.builder()
        .baseUrl("http://127.0.0.1:7070/environments/development")
        .headers(ImmutableMap.of("X-API-Key", ImmutableList.of(System.getenv("HALYARD_KEY"))))
        .build();
    OpenFeatureAPI.getInstance().setProviderAndWait(OfrepProvider.constructProvider(options));
    Client flags = OpenFeatureAPI.getInstance().getClient();
    boolean isOn = flags.getBooleanValue("dark-mode", false, new ImmutableContext("user-1"));
    // end of snippet

    System.out.println("dark-mode " + isOn);
    OpenFeatureAPI.getInstance().shutdown();
  }
}
