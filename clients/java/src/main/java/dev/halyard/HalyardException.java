package dev.halyard;

/**
 * A failure, as the listener for errors gets it: reads never throw one. Its {@link #code} is one of the server's codes, such as
 * {@code invalid_api_key}, {@code environment_not_found} and {@code rate_limited}, or one of the client's: {@code network_error},
 * {@code timeout}, {@code invalid_response}, {@code stream_error}, {@code revision_reset}, {@code invalid_options}, {@code
 * state_not_written} and {@code client_closed}. It never contains the project key.
 */
public final class HalyardException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The code. */
  private final String code;

  /** The HTTP status. */
  private final int status;

  /** The server's wish. */
  private final long retryAfterMs;

  HalyardException(String code, String message) {
    this(code, message, 0, -1);
  }

  HalyardException(String code, String message, int status, long retryAfterMs) {
    super(message, null, false, false); // no stack: it would show the client's own thread only
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /**
   * What went wrong, as a word for programs.
   *
   * @return the code
   */
  public String code() {
    return code;
  }

  /**
   * The HTTP status of the answer.
   *
   * @return the status, 0 without an answer
   */
  public int status() {
    return status;
  }

  /** How long the server asked to wait; -1 if it did not. */
  long retryAfterMs() {
    return retryAfterMs;
  }

  /** Whether only a person can undo the cause: a key or an environment the service does not know. */
  boolean isRefusal() {
    return status == 401 || code.equals("environment_not_found");
  }

  @Override
  public String toString() {
    return "HalyardException[" + code + ": " + getMessage() + "]";
  }
}
