import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from './cli-error.ts';
import { type FileChoice, filesOf } from './refs-files.ts';

/** A key and where it is used. */
export interface KeyPlaces {
  readonly key: string;
  /** `file:line`, the first of them. */
  readonly places: readonly string[];
  /** How many places there are. */
  readonly count: number;
}

/** What a code base says about flags. */
export interface References {
  /** Every known key that is used. */
  readonly places: ReadonlyMap<string, KeyPlaces>;
  /** In how many files each of these is used. */
  readonly files: ReadonlyMap<string, number>;
  /** Keys that a client reads and that are not known. */
  readonly unknown: readonly KeyPlaces[];
}

/** What to look for, and where. */
export interface Search extends FileChoice {
  readonly keys: readonly string[];
  /** Names of functions of the code base that read a flag, such as `checkFlag` or `features.isOn`. */
  readonly calls: readonly string[];
}

/** Larger files are generated or data. */
const MAX_FILE_BYTES = 1_000_000;

/** Places that are kept of a key, and unknown keys that are kept. */
const MOST = { places: 1000, unknown: 10_000 } as const;

/** Characters of a call that are looked through for its key. */
const MOST_OF_CALL = 2000;

/** Finds keys in the files of a folder. Throws if there are no files: a search of nothing says nothing about flags. */
export async function findReferences({ keys, calls, ...choice }: Search): Promise<References> {
  const known = new Set(keys);
  const reads = new RegExp(`(?<![\\w$])(?:${[...READS, ...calls.map(callPattern)].join('|')})`, 'g');
  const places = new Map<string, { key: string; places: string[]; count: number }>();
  const files = new Map<string, number>();
  const unknown: typeof places = new Map();

  const note = (map: typeof places, key: string, place: string) => {
    const found = map.get(key) ?? { key, places: [], count: 0 };
    if (!map.has(key) && map.size >= MOST.unknown && map === unknown) return;
    map.set(key, found);
    if (found.places.at(-1) === place) return;
    found.count++;
    if (found.places.length < MOST.places) found.places.push(place);
  };

  let searched = 0;
  for await (const file of filesOf(choice)) {
    searched++;
    const text = textOf(join(choice.folder, file));
    if (text === undefined || isListOfFlags(text)) continue;
    const lineAt = linesOf(text);
    const used = new Set<string>();

    for (const { 2: quoted = '', index } of text.matchAll(QUOTED)) {
      if (!known.has(quoted)) continue;
      note(places, quoted, `${file}:${lineAt(index)}`);
      used.add(quoted);
    }
    for (const key of used) files.set(key, (files.get(key) ?? 0) + 1);

    for (const { 0: call, index, groups } of text.matchAll(reads)) {
      const end = index + call.length;
      const key = keyOfCall(text.slice(end, end + MOST_OF_CALL), groups?.typed !== undefined);
      if (key !== undefined && !known.has(key)) note(unknown, key, `${file}:${lineAt(index)}`);
    }
  }

  if (searched === 0) throw usageError(`There are no files to search in ${choice.folder}.`);
  return { places, files, unknown: [...unknown.values()] };
}

/** A text in quotes that can be a key. */
const QUOTED = /(["'`])([\w.:/@-]{1,200})(?=\1)/g;

/** What stands between the name of a function and its arguments: a type in TypeScript, Java or Rust, blanks and line ends. */
const OPEN = String.raw`(?:::)?\s*(?:<[^<>()]{0,80}>)?\s*\(`;

/**
 * The names under which the clients read a flag, in every language: ours, and those of OpenFeature, whose methods have a type in their
 * name (`getBooleanValue`, `get_string_details`, `BooleanValue`, `fetch_number_value`, `resolve_bool_value`).
 */
const READS = [
  `(?:[iI]s_?[eE]nabled|use(?:Suspense)?Flag(?:Value)?)${OPEN}`,
  String.raw`(?<typed>(?:[gG]et_?|fetch_?|resolve_?|use(?:Suspense)?)?(?:[bB]ool(?:ean)?|[sS]tr(?:ing)?|[iI]nt(?:eger)?|[lL]ong|[nN]umber|[fF]loat|[dD]ouble|[oO]bject|[sS]truct)_?(?:[fF]lag)?_?(?:[vV]alue|[dD]etails|[eE]valuation)\w*)${OPEN}`,
  // Other objects have methods of these names, too.
  String.raw`(?:\w*[fF]lags|halyard)\s*\.\s*(?:[gG]et_?[vV]alue|[eE]valuate|Value)${OPEN}`,
];

/** A function of the code base; blanks and line ends may stand around its dots. */
function callPattern(name: string): string {
  const words = name.split('.').map((word) => word.replace(/[^\w]/g, '\\$&'));
  return words.join(String.raw`\s*\.\s*`) + OPEN;
}

/**
 * The key of a call, if it is written there: `text` is what follows its parenthesis. A typed read of OpenFeature always has a default
 * behind the key; a call without one is another function of that name.
 */
function keyOfCall(text: string, isTyped: boolean): string | undefined {
  const parts = argumentsOf(text);
  if (isTyped && parts.length < 2) return undefined;
  for (const part of parts) {
    const named = /^(?:flag_?key|flagKey|key)\s*[:=]\s*([\s\S]*)$/.exec(part)?.[1];
    if (named !== undefined) return literal(named);
  }
  const [first = '', second] = parts;
  // In Go and C# the context comes first, and our own Go client takes the client.
  const isContext = /^(?:&?\w*(?:ctx|context|Context|flags|Flags|client|Client)(?:\.\w+\(\))?)$/.test(first);
  return isContext && second !== undefined ? literal(second) : literal(first);
}

/** The arguments of a call, without blanks and comments around them; the last one may be cut. */
function argumentsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  let at = 0;

  for (; at < text.length; at++) {
    const character = text[at] ?? '';
    if (`"'\``.includes(character)) at = endOfText(text, at);
    else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character) && --depth < 0) break;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start, at)].map(withoutComments);
}

/** Where a quoted text ends. A quote without an end, as in a comment, ends with its line. */
function endOfText(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote || (text[at] === '\n' && quote !== '`')) return at;
  }
  return text.length;
}

function withoutComments(part: string): string {
  return part
    .replace(/^(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n|#[^\n]*\n)+/, '')
    .replace(/(?:\s|\/\*[\s\S]*?\*\/)+$/, '');
}

/** The text in quotes that an argument consists of, if it can be a key. */
function literal(part: string): string | undefined {
  return /^@?(["'`])([\w.:/@-]{1,200})\1/.exec(part)?.[2];
}

/** Files that begin like this list flags and use none: our own exports and types, and documents for flagd. */
const LISTS = [
  /^\s*\{\s*"halyard"\s*:/,
  /^(?:#[^\n]*\n|---\s*\n|\s*\n)*halyard:\s/,
  /^\/\/ Flags of the project .*Written by `halyard types`/,
  /^\s*\{\s*(?:"\$schema"\s*:\s*"[^"]*flagd[^"]*"|"flags"\s*:\s*\{\s*"[^"]*"\s*:\s*\{\s*"(?:state|variants)")/,
];

function isListOfFlags(text: string): boolean {
  return LISTS.some((begins) => begins.test(text.slice(0, 2000)));
}

function textOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MAX_FILE_BYTES) return undefined;
  const text = readFileSync(path, 'utf8');
  return text.includes('\0') ? undefined : text;
}

/** Finds the number of the line at an index of the text. */
function linesOf(text: string): (index: number) => number {
  const ends: number[] = [];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) ends.push(at);
  return (index) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
