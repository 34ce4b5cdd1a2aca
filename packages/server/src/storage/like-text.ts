/** A foreign text as LIKE finds it literally, with `ESCAPE '\\'` after the pattern it stands in. */
export function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
