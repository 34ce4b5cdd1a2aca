/**
 * Tools on JSON as text, which `JSON.parse` followed by `JSON.stringify` would change: the order of integer-like
 * members, the notation and digits of numbers. All expect a text that `JSON.parse` takes.
 */

const SPACE = /[ \n\r\t]/;

/**
 * The pieces of a JSON text in order: brackets, commas, colons, and whole strings, numbers and words. What stands
 * between them is white space.
 */
export function jsonTokens(text: string): readonly string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/gs) ?? [];
}

/** The same JSON without insignificant white space. */
export function compactText(text: string): string {
  return jsonTokens(text).join('');
}

/** The raw text of the member at a path of names; `undefined` when there is none. */
export function memberText(text: string, path: readonly string[]): string | undefined {
  let found: string | undefined = text;
  for (const name of path) found = found === undefined ? undefined : memberOf(found, name);
  return found;
}

/** Of duplicate members the last counts, as it does for `JSON.parse`. */
function memberOf(text: string, name: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  let [start, isWanted] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '"') {
      const end = endOfString(text, at);
      // A string directly inside the object with a colon behind it is a member's name.
      if (depth === 1 && nextVisible(text, end) === ':') isWanted = JSON.parse(text.slice(at, end)) === name;
      at = end - 1;
    } else if (character === '{' || character === '[') {
      depth++;
    } else if (character === ':' && depth === 1) {
      start = at + 1;
    } else if ((character === ',' && depth === 1) || character === '}' || character === ']') {
      if (isWanted && depth === 1) {
        found = text.slice(start, at).trim();
        isWanted = false;
      }
      if (character !== ',') depth--;
    }
  }
  return found;
}

/** The index after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function nextVisible(text: string, start: number): string | undefined {
  let at = start;
  while (SPACE.test(text[at] ?? '')) at++;
  return text[at];
}
