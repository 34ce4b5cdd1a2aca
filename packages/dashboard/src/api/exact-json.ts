/** Numbers that JavaScript may write differently than they came: long ones, exponents, trailing zeros, minus zero. */
const SUSPICIOUS = /\d{16}|\d[eE]|\.\d*0(?!\d)|-0/;

/** What newer engines have and the types do not know yet. */
interface RawJsonSupport {
  readonly rawJSON?: (text: string) => unknown;
}

/**
 * Parses JSON so that `JSON.stringify` gives every number back as it came: values of flags belong to their writers.
 * Where the engine cannot do that, as `JSON.parse`.
 */
export function parseExactly(text: string): unknown {
  const { rawJSON } = JSON as RawJsonSupport;
  if (rawJSON === undefined || !SUSPICIOUS.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source;
    return typeof value === 'number' && source !== undefined && String(value) !== source
      ? rawJSON(source)
      : value;
  });
}
