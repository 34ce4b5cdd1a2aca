/** The beginning of a text, of at most `most` UTF-16 units, without half of a character at its end. */
export function shorten(text: string, most: number): string {
  return text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
}

/** Joiners stay where Persian, Indic scripts and emoji need them: after anything but Latin letters, digits and punctuation. */
const INVISIBLE =
  /(?!(?<=[^\p{Script=Latin}\p{Script=Common}\p{Cf}]|\p{Extended_Pictographic}\p{M}?)[\u200c\u200d])\p{Cf}/gu;

/**
 * A name without characters that are not seen: format characters (`\p{Cf}`), which make two names look the same, or reorder
 * what is beside the name.
 */
export function visibleName(name: string): string {
  return name.replaceAll(INVISIBLE, '').trim();
}
