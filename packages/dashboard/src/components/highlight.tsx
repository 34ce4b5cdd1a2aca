import type { ReactNode } from 'react';

/**
 * A text in which the words of a search are marked. `words` are in lower case. `from` and `to` limit it to a part of the
 * text; words that reach over its ends are marked as far as they are in it.
 */
export function Highlight({
  text,
  words,
  from = 0,
  to = text.length,
}: {
  text: string;
  words: readonly string[];
  from?: number;
  to?: number;
}) {
  const parts: ReactNode[] = [];
  let done = from;
  for (const [start, end] of placesOf(text, words)) {
    const [first, last] = [Math.max(start, done), Math.min(end, to)];
    if (first >= last) continue;
    parts.push(text.slice(done, first));
    parts.push(
      <mark key={first} className="rounded-xs bg-flash text-inherit">
        {text.slice(first, last)}
      </mark>,
    );
    done = last;
  }
  parts.push(text.slice(done, to));
  return <>{parts}</>;
}

/** Where the words are in a text, in order; places may overlap. */
function placesOf(
  text: string,
  words: readonly string[],
): readonly (readonly [start: number, end: number])[] {
  const low = text.toLowerCase();
  // Some letters have a lower case of another length, which would move the places.
  if (words.length === 0 || low.length !== text.length) return [];
  const places: (readonly [number, number])[] = [];
  for (const word of words)
    for (let at = low.indexOf(word); at !== -1; at = low.indexOf(word, at + word.length))
      places.push([at, at + word.length]);
  return places.sort(([one], [other]) => one - other);
}
