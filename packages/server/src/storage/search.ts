/**
 * The values of `lower(column)` that match this text regardless of case. In SQLite, and in PostgreSQL with the locale C,
 * `lower` only changes ASCII letters, so the usual cases of other letters are listed.
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

/** Escapes a text so that LIKE finds it literally; the pattern needs `ESCAPE '\\'`. */
export function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
