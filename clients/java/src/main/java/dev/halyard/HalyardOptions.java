package dev.halyard;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** What a client is made of. Options that cannot work raise nothing: the client is {@code FAILED} and says why. */
public final class HalyardOptions {
  private static final Pattern LOOPBACK = Pattern.compile("(.*\\.)?localhost|127[.\\d]+|\\[::1]");

  final String apiKey;
  final String environment;
  final URI baseUrl;
  final String targetingKey;
  final String bootstrap;
  final Path stateFile;
  final Duration stateMaxAge;
  final boolean reportUsage;
  final Duration requestTimeout;
  final Duration readyTimeout;
  final Duration staleAfter;
  final Consumer<HalyardException> onError;
  final Consumer<Evaluation> onRead;
  final double timeScale;

  /** Why these options cannot work; {@code null} if they can. It quotes no value. */
  final HalyardException problem;

  private HalyardOptions(Builder builder) {
    apiKey = builder.apiKey == null ? "" : builder.apiKey.strip();
    environment = builder.environment == null ? "" : builder.environment;
    baseUrl = readBaseUrl(builder.baseUrl);
    targetingKey = builder.targetingKey;
    bootstrap = builder.bootstrap;
    stateFile = builder.stateFile;
    stateMaxAge = builder.stateMaxAge;
    reportUsage = builder.reportUsage;
    requestTimeout = builder.requestTimeout;
    readyTimeout = builder.readyTimeout;
    staleAfter = builder.staleAfter;
    onError = builder.onError;
    onRead = builder.onRead;
    timeScale = builder.timeScale;
    problem = findProblem(builder.allowInsecureHttp);
  }

  /**
   * Begins options.
   *
   * @return a builder with the defaults
   */
  public static Builder builder() {
    return new Builder();
  }

  private HalyardException findProblem(boolean allowInsecureHttp) {
    String wrong = null;
    if (!apiKey.matches("[!-~]+")) wrong = "apiKey (proj_live_...)";
    else if (environment.isEmpty() || environment.codePoints().anyMatch(c -> Character.getType(c) == Character.SURROGATE))
      wrong = "environment";
    else if (baseUrl == null) wrong = "baseUrl";
    else if (isPlain() && !allowInsecureHttp && !LOOPBACK.matcher(baseUrl.getHost()).matches())
      wrong = "baseUrl: https, or allowInsecureHttp";
    for (Duration each : new Duration[] {requestTimeout, readyTimeout, staleAfter})
      if (each == null || each.isNegative()) wrong = "duration";
    return wrong == null ? null : new HalyardException("invalid_options", "the client needs a valid " + wrong);
  }

  /** Whether requests go over plain HTTP. */
  boolean isPlain() {
    return baseUrl.getScheme().equalsIgnoreCase("http");
  }

  private static URI readBaseUrl(String given) {
    try {
      URI uri = new URI(given.replaceAll("/+$", "")).parseServerAuthority();
      boolean isWeb = uri.getScheme() != null && uri.getScheme().matches("(?i)https?") && uri.getHost() != null;
      boolean isBare = uri.getRawUserInfo() == null && uri.getRawQuery() == null && uri.getRawFragment() == null;
      return isWeb && isBare ? uri : null;
    } catch (Exception wrong) {
      return null; // reported without quoting it
    }
  }

  /** Never shows the key. */
  @Override
  public String toString() {
    return "HalyardOptions[" + environment + " at " + baseUrl + "]";
  }

  /** Collects options. Only the key and the environment have no default. */
  public static final class Builder {
    private String apiKey;
    private String environment;
    private String baseUrl = System.getenv().getOrDefault("HALYARD_URL", "http://127.0.0.1:7070");
    private String targetingKey;
    private String bootstrap;
    private Path stateFile;
    private Duration stateMaxAge;
    private boolean reportUsage = true;
    private boolean allowInsecureHttp;
    private Duration requestTimeout = Duration.ofSeconds(5);
    private Duration readyTimeout = Duration.ofSeconds(5);
    private Duration staleAfter = Duration.ofSeconds(30);
    private Consumer<HalyardException> onError;
    private Consumer<Evaluation> onRead;
    private double timeScale = 1;

    private Builder() {}

    /**
     * The project key, which starts with {@code proj_live_}. It is sent in one header and appears nowhere else.
     *
     * @param apiKey the key
     * @return this builder
     */
    public Builder apiKey(String apiKey) {
      this.apiKey = apiKey;
      return this;
    }

    /**
     * The environment whose flags are read. A client reads only one.
     *
     * @param environment its name
     * @return this builder
     */
    public Builder environment(String environment) {
      this.environment = environment;
      return this;
    }

    /**
     * The address of the service. Default: the variable {@code HALYARD_URL}, or {@code http://127.0.0.1:7070}.
     *
     * @param baseUrl the address, perhaps with a path
     * @return this builder
     */
    public Builder baseUrl(String baseUrl) {
      this.baseUrl = baseUrl;
      return this;
    }

    /**
     * The target of reads that name none.
     *
     * @param targetingKey the targeting key
     * @return this builder
     */
    public Builder targetingKey(String targetingKey) {
      this.targetingKey = targetingKey;
      return this;
    }

    /**
     * Flags to answer with until the first load.
     *
     * @param json a map of flags, or the result of {@link HalyardClient#toBootstrap()}
     * @return this builder
     */
    public Builder bootstrap(String json) {
      this.bootstrap = json;
      return this;
    }

    /**
     * A file that keeps the flags for the next start. It holds every flag with its value, and only its owner may read it.
     *
     * @param stateFile the file, one for each environment
     * @return this builder
     */
    public Builder stateFile(Path stateFile) {
      this.stateFile = stateFile;
      return this;
    }

    /**
     * How old the flags of the file may be. Default: any age.
     *
     * @param stateMaxAge the greatest age
     * @return this builder
     */
    public Builder stateMaxAge(Duration stateMaxAge) {
      this.stateMaxAge = stateMaxAge;
      return this;
    }

    /**
     * Whether to report how often each flag is read, if the project asks for it. Default: yes.
     *
     * @param reportUsage {@code false} for no reports
     * @return this builder
     */
    public Builder reportUsage(boolean reportUsage) {
      this.reportUsage = reportUsage;
      return this;
    }

    /**
     * Whether the key may be sent over plain HTTP to another machine. Default: no.
     *
     * @param allowInsecureHttp {@code true} to allow it
     * @return this builder
     */
    public Builder allowInsecureHttp(boolean allowInsecureHttp) {
      this.allowInsecureHttp = allowInsecureHttp;
      return this;
    }

    /**
     * How long the headers of an answer may take. Default: 5 seconds.
     *
     * @param requestTimeout the greatest time
     * @return this builder
     */
    public Builder requestTimeout(Duration requestTimeout) {
      this.requestTimeout = requestTimeout;
      return this;
    }

    /**
     * How long {@link HalyardClient#ready()} and the initialization of the provider may take. Default: 5 seconds.
     *
     * @param readyTimeout the greatest time
     * @return this builder
     */
    public Builder readyTimeout(Duration readyTimeout) {
      this.readyTimeout = readyTimeout;
      return this;
    }

    /**
     * How long after its connection was lost a client calls itself stale. Default: 30 seconds.
     *
     * @param staleAfter the time
     * @return this builder
     */
    public Builder staleAfter(Duration staleAfter) {
      this.staleAfter = staleAfter;
      return this;
    }

    /**
     * A listener for failures. Without it, each kind is logged at most once a minute.
     *
     * @param onError the listener
     * @return this builder
     */
    public Builder onError(Consumer<HalyardException> onError) {
      this.onError = onError;
      return this;
    }

    /**
     * A listener for reads, called by the thread that reads. OpenFeature has hooks for the same.
     *
     * @param onRead the listener
     * @return this builder
     */
    public Builder onRead(Consumer<Evaluation> onRead) {
      this.onRead = onRead;
      return this;
    }

    /** Multiplies every duration; for tests. */
    Builder timeScale(double timeScale) {
      this.timeScale = timeScale;
      return this;
    }

    /**
     * Makes the options.
     *
     * @return options that no longer change
     */
    public HalyardOptions build() {
      return new HalyardOptions(this);
    }
  }
}
