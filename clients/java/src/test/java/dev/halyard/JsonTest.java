package dev.halyard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
  @Test
  void readsEveryKindOfValue() {
    List<Object> expected = new ArrayList<>(Arrays.asList(0, -1, 7, 1.5, 1e300, 3e9, true, false, null, "", Map.of(), List.of()));
    assertEquals(expected, Json.parse(" [ 0 , -1,7.0,15e-1,1E+300,3000000000,true,false,null,\"\",{ },[ ] ]\t\r\n"));
    assertEquals(Map.of("a", Map.of("b", List.of("c"))), Json.parse("{\"a\":1,\"a\":{\"b\":[\"c\"]}}"));
    assertEquals("\"\\/\b\f\n\r\t\u00e9\uD83D\uDE42\uD800x", Json.parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9\\ud83d\\uDE42\\ud800x\""));
    assertEquals(Double.POSITIVE_INFINITY, Json.parse("1e400"));
  }

  @Test
  void refusesWhatIsNoJson() {
    for (String text :
        List.of(
            "", " ", "{", "[", "[1,]", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "[1 2]", "01", "1.", ".5", "+1", "-", "1e", "0x1", "NaN",
            "Infinity", "tru", "nulll", "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u\uff11234\"", "\"\n\"", "'a'", "1 1",
            "]", "\u00a01", "/**/1")) {
      HalyardException error = assertThrows(HalyardException.class, () -> Json.parse(text), text);
      assertEquals("invalid_response", error.code());
    }
  }

  @Test
  void bracketsWithoutEndFillNoStack() {
    int depth = 200_000;
    String text = "[".repeat(depth) + "\"]\"" + "]".repeat(depth);
    Object value = Json.parse("{\"deep\":{\"enabled\":true,\"value\":" + text + "},\"flat\":{\"enabled\":true,\"value\":" + "[".repeat(64) + "]".repeat(64) + "}}");
    assertEquals(List.of("deep"), FlagState.readAll(value).rejected());
    assertTrue(FlagState.readAll(value).flags().get("flat").enabled());
    assertThrows(HalyardException.class, () -> Json.parse("[".repeat(depth)));
  }

  @Test
  void writesWhatItReads() {
    for (String text : List.of("{\"a\":[1,2.5,null,true],\"\\u0000\":{}}", "[\"\\\"\\\\\\u001f\\ud83d\\ude42\\ud800é\"]", "[1e999,-1e999]")) {
      StringBuilder out = new StringBuilder();
      Json.write(out, Json.parse(text));
      assertEquals(Json.parse(text), Json.parse(out.toString()));
      assertTrue(out.length() <= text.length());
    }
  }
}
