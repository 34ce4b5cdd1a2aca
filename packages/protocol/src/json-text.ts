/**
 * Tools for JSON as text. `JSON.parse` followed by `JSON.stringify` loses what a writer may care about: the order of
 * integer-like members, duplicate members, the digits of large numbers, `1.0`, `-0`. These keep the text. All run in
 * linear time, without recursion, and expect valid JSON unless they say otherwise.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** The same JSON without insignificant white space; every other character stays as it is. Any text will do. */
export function withoutSpace(text: string): string {
  const pieces: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; ) {
    if (text.charCodeAt(at) === QUOTE) {
      at = endOfString(text, at);
    } else if (isSpace(text.charCodeAt(at))) {
      pieces.push(text.slice(start, at));
      at = skipSpace(text, at);
      start = at;
    } else {
      at++;
    }
  }
  pieces.push(text.slice(start));
  return pieces.join('');
}

/** As {@link withoutSpace}; throws `SyntaxError` when the text is not JSON. */
export function compactJson(text: string): string {
  JSON.parse(text);
  return withoutSpace(text);
}

/** The pieces of a JSON text in order, without white space: brackets, commas, colons, strings, numbers and words. */
export function jsonTokens(text: string): readonly string[] {
  return text.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s"[\]{}:,]+/gs) ?? [];
}

/** How deeply arrays and objects are nested: `1` is 0, `[[1]]` is 2. Any text will do; brackets in strings do not count. */
export function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at) - 1;
    else if (isOpening(character)) deepest = Math.max(deepest, ++depth);
    else if (isClosing(character)) depth--;
  }
  return deepest;
}

/** Names and raw texts of an object's members, in order, duplicates included; `undefined` when it is no object. */
export function membersOf(text: string): readonly (readonly [name: string, text: string])[] | undefined {
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return undefined;
  const members: [string, string][] = [];
  for (at = skipSpace(text, at + 1); text[at] !== '}' && at < text.length; ) {
    const nameEnd = endOfString(text, at);
    // `string`: a member's name can be nothing else in valid JSON.
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    members.push([name, text.slice(start, end)]);
    at = skipComma(text, end);
  }
  return members;
}

/** Raw texts of an array's elements in order; `undefined` when it is no array. */
export function elementsOf(text: string): readonly string[] | undefined {
  let at = skipSpace(text, 0);
  if (text[at] !== '[') return undefined;
  const elements: string[] = [];
  for (at = skipSpace(text, at + 1); text[at] !== ']' && at < text.length; ) {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    at = skipComma(text, end);
  }
  return elements;
}

/**
 * The raw text at a path such as `['changes', 3, 'state', 'value']`; `undefined` when there is nothing. Of duplicate
 * members the last counts, as it does for `JSON.parse`.
 */
export function memberText(text: string, path: readonly (string | number)[]): string | undefined {
  let found: string | undefined = text;
  for (const step of path) {
    if (found === undefined) return undefined;
    found =
      typeof step === 'number'
        ? elementsOf(found)?.[step]
        : membersOf(found)?.findLast(([name]) => name === step)?.[1];
  }
  return found?.trim();
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at) - 1;
    else if (isOpening(character)) depth++;
    else if (isClosing(character) && --depth <= 0) return depth < 0 ? at : at + 1;
    else if (depth === 0 && (character === COMMA || isSpace(character))) return at;
  }
  return text.length;
}

/** The index after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === BACKSLASH) at++;
    else if (character === QUOTE) return at + 1;
  }
  return text.length;
}

function skipComma(text: string, at: number): number {
  const next = skipSpace(text, at);
  return text.charCodeAt(next) === COMMA ? skipSpace(text, next + 1) : next;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The four characters that JSON knows as white space; there are more in Unicode, and those are errors. */
function isSpace(character: number): boolean {
  return character === 0x20 || character === 0x0a || character === 0x0d || character === 0x09;
}

function isOpening(character: number): boolean {
  return character === 0x5b || character === 0x7b;
}

function isClosing(character: number): boolean {
  return character === 0x5d || character === 0x7d;
}
