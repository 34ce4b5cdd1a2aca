package dev.halyard;

import dev.openfeature.sdk.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** OpenFeature's values as plain JSON. */
final class OpenFeatureJson {
  private OpenFeatureJson() {}

  static Object toJson(Value value) {
    if (value.isStructure()) {
      Map<String, Object> members = new HashMap<>();
      value.asStructure().asMap().forEach((name, member) -> members.put(name, toJson(member)));
      return members;
    }
    if (!value.isList()) return value.asObject();

    List<Object> items = new ArrayList<>();
    value.asList().forEach(item -> items.add(toJson(item)));
    return items;
  }
}
