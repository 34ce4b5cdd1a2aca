/**
 * What `lower(column)` may be where the column holds this text, whatever the case of its letters. To SQLite, and to
 * PostgreSQL in the locale C, `lower` knows the letters of ASCII only: of the others every usual case is asked for.
 */
export function spellings(text: string): readonly string[] {
  const lower = text.toLowerCase();
  const capitals = lower.replace(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase());
  const [first = ''] = lower;
  const capital = first.toUpperCase() + lower.slice(first.length);
  return [...new Set([lower, text, text.toUpperCase(), capital, capitals].map(lowerAscii))];
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A foreign text as LIKE finds it literally, with `ESCAPE '\\'` after the pattern it stands in. */
export function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
