package dev.halyard;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A flag as the server sent it.
 *
 * @param enabled whether it is on
 * @param hasValue whether it has a value; {@code null} is a value
 * @param value the value as plain JSON: {@code Map}, {@code List}, {@code String}, {@code Integer}, {@code Double}, {@code Boolean} or
 *     {@code null}; it cannot be changed
 * @param rolloutPct the share of targeting keys the flag is on for, in per cent; {@code null} for everyone
 */
public record FlagState(boolean enabled, boolean hasValue, Object value, Double rolloutPct) {
  private static final int MAX_DEPTH = 64;

  /** A map made of foreign data, and the keys of members that were left out because they are no flag states. */
  record Parsed(Map<String, FlagState> flags, List<String> rejected) {}

  /** Whether a partial rollout decides. */
  boolean isPartial() {
    return rolloutPct != null && rolloutPct < 100;
  }

  /**
   * Reads a map. A member that is no flag state is left out, so that one damaged flag cannot hold back all others; throws {@code
   * invalid_response} for data of another shape. (Contract: C2.7, C2.8)
   */
  static Parsed readAll(Object json) {
    Map<String, FlagState> flags = new HashMap<>();
    List<String> rejected = new ArrayList<>();
    if (json instanceof Map<?, ?> members) {
      members.forEach(
          (key, member) -> {
            FlagState state = read(member);
            if (state == null) rejected.add((String) key);
            else flags.put((String) key, state);
          });
    }

    // Members, but no flag among them: an error body or a wrapper, not a map.
    if (!(json instanceof Map) || flags.isEmpty() && !rejected.isEmpty())
      throw new HalyardException("invalid_response", "it is not a flag map");
    return new Parsed(flags, rejected);
  }

  private static FlagState read(Object json) {
    if (!(json instanceof Map<?, ?> members) || !(members.get("enabled") instanceof Boolean enabled)) return null;
    Object value = members.get("value");
    Object pct = members.get("rolloutPct");

    // A percentage that cannot be read is not 100: the flag would be on for everyone.
    boolean isValid = pct instanceof Number number && number.doubleValue() >= 0 && number.doubleValue() <= 100;
    if (!isValid && members.containsKey("rolloutPct") || !isShallow(value, MAX_DEPTH)) return null;
    return new FlagState(
        enabled, members.containsKey("value"), value, isValid ? ((Number) pct).doubleValue() : null);
  }

  private static boolean isShallow(Object value, int depth) {
    if (value == Json.TOO_DEEP) return false;
    Collection<?> items =
        value instanceof Map<?, ?> map ? map.values() : value instanceof List<?> list ? list : null;
    return items == null || depth > 0 && items.stream().allMatch(item -> isShallow(item, depth - 1));
  }

  /**
   * Compares two maps. Returns the keys that were added, changed or removed; in {@code next}, states that did not change become the very
   * same objects as before.
   */
  static Set<String> reconcile(Map<String, FlagState> previous, Map<String, FlagState> next) {
    Set<String> changed = new HashSet<>();
    next.replaceAll(
        (key, state) -> {
          FlagState before = previous.get(key);
          if (state.equals(before)) return before;
          changed.add(key);
          return state;
        });
    for (String key : previous.keySet()) if (!next.containsKey(key)) changed.add(key);
    return changed;
  }

  /** The JSON of a map, as {@link #readAll} reads it. */
  static Map<String, Object> toJson(Map<String, FlagState> flags) {
    Map<String, Object> json = new LinkedHashMap<>();
    flags.forEach(
        (key, state) -> {
          Map<String, Object> members = new LinkedHashMap<>();
          members.put("enabled", state.enabled);
          if (state.hasValue) members.put("value", state.value);
          if (state.rolloutPct != null) members.put("rolloutPct", state.rolloutPct);
          json.put(key, members);
        });
    return json;
  }
}
