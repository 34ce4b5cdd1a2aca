package dev.halyard;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as plain values: {@code Map}, {@code List}, {@code String}, {@code Boolean}, {@code null}, and for numbers {@code Integer}
 * where they are whole and fit, {@code Double} otherwise. What is parsed cannot be changed.
 */
final class Json {
  /** Stands for a value that is nested more deeply than any flag's may be. Only its brackets have been counted. */
  static final Object TOO_DEEP = List.of(new Object());

  private static final int MAX_DEPTH = 80;

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** Parses a whole text by the rules of RFC 8259. Throws without quoting what came. */
  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    if (json.next() >= 0) throw json.wrong();
    return value;
  }

  /** Writes a value of these types. */
  static void write(StringBuilder out, Object value) {
    if (value instanceof Map<?, ?> map) {
      String comma = "{";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        writeText(out.append(comma), entry.getKey().toString());
        write(out.append(':'), entry.getValue());
        comma = ",";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof List<?> list) {
      String comma = "[";
      for (Object item : list) {
        write(out.append(comma), item);
        comma = ",";
      }
      out.append(list.isEmpty() ? "[]" : "]");
    } else if (value instanceof String string) {
      writeText(out, string);
    } else if (value instanceof Double number && number.isInfinite()) {
      out.append(number > 0 ? "1e999" : "-1e999"); // as it came
    } else {
      out.append(value);
    }
  }

  private static void writeText(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ' || Character.isSurrogate(c)) out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    out.append('"');
  }

  /** The next character that is no white space, which stays where it is; -1 at the end. */
  private int next() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    return at < text.length() ? text.charAt(at) : -1;
  }

  private boolean skip(char expected) {
    if (next() != expected) return false;
    at++;
    return true;
  }

  private Object value(int depth) {
    return switch (next()) {
      case '{' -> depth < MAX_DEPTH ? object(depth + 1) : skipDeep();
      case '[' -> depth < MAX_DEPTH ? array(depth + 1) : skipDeep();
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> members = new LinkedHashMap<>();
    at++;
    if (skip('}')) return Map.of();
    do {
      if (next() != '"') throw wrong();
      String name = string();
      if (!skip(':')) throw wrong();
      members.put(name, value(depth));
    } while (skip(','));

    if (!skip('}')) throw wrong();
    return Collections.unmodifiableMap(members);
  }

  private List<Object> array(int depth) {
    List<Object> items = new ArrayList<>();
    at++;
    if (skip(']')) return List.of();
    do items.add(value(depth));
    while (skip(','));

    if (!skip(']')) throw wrong();
    return Collections.unmodifiableList(items);
  }

  /** Skips what is too deep without recursion, which a text of brackets alone would otherwise use to fill the stack. */
  private Object skipDeep() {
    int open = 0;
    do {
      int c = next();
      if (c < 0) throw wrong();
      if (c == '"') string();
      else at++;
      if (c == '{' || c == '[') open++;
      if (c == '}' || c == ']') open--;
    } while (open > 0);
    return TOO_DEEP;
  }

  private String string() {
    int start = ++at;
    StringBuilder unescaped = null; // most texts have no escapes
    for (; at < text.length(); at++) {
      char c = text.charAt(at);
      if (c < ' ') break;
      if (c == '"') {
        String rest = text.substring(start, at++);
        return unescaped == null ? rest : unescaped.append(rest).toString();
      }
      if (c != '\\') continue;

      if (unescaped == null) unescaped = new StringBuilder();
      unescaped.append(text, start, at++).append(escape());
      start = at + 1;
    }
    throw wrong();
  }

  /** The character of the escape whose letter is at hand; leaves the last character of the escape at hand. */
  private char escape() {
    int letter = at < text.length() ? "\"\\/bfnrtu".indexOf(text.charAt(at)) : -1;
    if (letter < 0) throw wrong();
    if (letter < 8) return "\"\\/\b\f\n\r\t".charAt(letter);

    int code = 0;
    for (int i = 0; i < 4; i++) {
      int digit = ++at < text.length() ? Character.digit(text.charAt(at), 16) : -1;
      if (digit < 0 || text.charAt(at) > 'f') throw wrong();
      code = code * 16 + digit;
    }
    return (char) code;
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) throw wrong();
    at += word.length();
    return value;
  }

  private Number number() {
    int start = at;
    if (peek() == '-') at++;
    if (peek() == '0') at++;
    else digits();
    if (peek() == '.') {
      at++;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      at++;
      if (peek() == '+' || peek() == '-') at++;
      digits();
    }

    double number = Double.parseDouble(text.substring(start, at));
    if (number == (int) number) return (int) number; // 7.0 is 7, as in every language
    return number;
  }

  private void digits() {
    int start = at;
    while (peek() >= '0' && peek() <= '9') at++;
    if (at == start) throw wrong();
  }

  private char peek() {
    return at < text.length() ? text.charAt(at) : 0;
  }

  private HalyardException wrong() {
    return new HalyardException("invalid_response", "it is not JSON");
  }
}
