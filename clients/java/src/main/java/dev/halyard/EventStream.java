package dev.halyard;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads server-sent events by the rules of the HTML standard, from bytes in any pieces. (Contract: C2.3, C2.4) */
abstract class EventStream {
  /** What a line or an event may have in bytes: a guard against what has no end. (C2.10) */
  static final int MAX_BYTES = 32 * 1024 * 1024;

  private static final Pattern LINE = Pattern.compile("([^:]*+):? ?(.*)", Pattern.DOTALL);

  private ByteArrayOutputStream line = new ByteArrayOutputStream();
  private StringBuilder data = new StringBuilder();
  private String name = "";
  private boolean isFirstLine = true;
  private boolean endsWithCr;

  /** An event that has no name of its own. */
  abstract void onData(String text);

  /** A comment, which servers send as a keep-alive. */
  abstract void onComment(String text);

  /** The server set the reconnection time. */
  abstract void onRetry(long ms);

  /** Takes the next bytes. Throws what the handlers throw, and {@code invalid_response} for a frame without end. */
  final void feed(byte[] bytes) {
    int start = 0;
    for (int i = 0; i < bytes.length; i++) {
      boolean isSecondHalf = bytes[i] == '\n' && endsWithCr;
      endsWithCr = bytes[i] == '\r';
      if (isSecondHalf) {
        start = i + 1;
      } else if (bytes[i] == '\r' || bytes[i] == '\n') {
        line.write(bytes, start, i - start);
        start = i + 1;
        String text = line.toString(StandardCharsets.UTF_8);
        line = new ByteArrayOutputStream(); // a large frame is not kept in memory
        take(text);
      }
    }

    line.write(bytes, start, bytes.length - start);
    if (line.size() + data.length() > MAX_BYTES) throw new HalyardException("invalid_response", "it has no end");
  }

  private void take(String text) {
    String whole = isFirstLine && text.startsWith("\uFEFF") ? text.substring(1) : text;
    isFirstLine = false;
    if (whole.isEmpty()) {
      dispatch();
      return;
    }

    Matcher match = LINE.matcher(whole);
    match.matches(); // every line does
    String value = match.group(2);
    switch (match.group(1)) {
      case "data" -> data.append(value).append('\n'); // one line feed too many, as in the standard
      case "event" -> name = value;
      case "retry" -> {
        if (value.matches("[0-9]{1,15}")) onRetry(Long.parseLong(value));
      }
      case "" -> onComment(value);
      default -> {} // unknown fields are ignored
    }
  }

  private void dispatch() {
    String text = data.isEmpty() ? null : data.substring(0, data.length() - 1);
    boolean isOurs = name.isEmpty() || name.equals("message");
    data = new StringBuilder();
    name = "";
    if (text != null && isOurs) onData(text);
  }
}
