/**
 * Parses JSON for showing it to people: whole numbers that would lose digits keep their text, so that what
 * `JSON.stringify` shows is what is stored. Throws a `SyntaxError`.
 */
export function parseForDisplay(text: string): unknown {
  return JSON.parse(text, (_member, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER && context?.source !== undefined
      ? rawJson(context.source)
      : value,
  );
}

/** Whether the text is one JSON value. */
export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Not JSON: that is the answer.
    return false;
  }
}

function rawJson(source: string): unknown {
  // In the language since ES2026, and in this runtime; the type library does not have it yet.
  return (JSON as typeof JSON & { rawJSON(text: string): unknown }).rawJSON(source);
}
