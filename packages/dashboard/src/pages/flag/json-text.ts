import { jsonTokens, MAX_VALUE_BYTES, MAX_VALUE_DEPTH, withoutSpace } from '@halyard/protocol';
import { messages } from './messages.tsx';

const words = messages.json;

/** Why a text is not a valid value, and where. */
export interface JsonProblem {
  readonly message: string;
  /** Offset into the text, from 0. */
  readonly at: number;
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** Why `text` cannot be a flag's value: invalid JSON, too deep or too large. `undefined` for a valid or blank text. */
export function findJsonProblem(text: string): JsonProblem | undefined {
  if (text.trim() === '') return undefined;
  const stop = new Reader(text).readAll();
  if (stop !== undefined) return { ...stop, ...placeOf(text, stop.at) };
  const bytes = new TextEncoder().encode(withoutSpace(text)).length;
  if (bytes <= MAX_VALUE_BYTES) return undefined;
  const message = words.tooLarge(bytes, MAX_VALUE_BYTES);
  return { message, at: 0, line: 1, column: 1 };
}

function placeOf(text: string, at: number): { line: number; column: number } {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

class Stop extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[\p{L}\p{N}_$'.-]+/uy;
const WORDS = new Set(['true', 'false', 'null']);
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Finds the first error of a JSON text: browsers word it differently, and not all give its place. The depth is bounded,
 * and so is the recursion.
 */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): { message: string; at: number } | undefined {
    try {
      this.#value(0);
      this.#space();
      if (this.#at < this.#text.length) throw new Stop(words.trailingText, this.#at);
      return undefined;
    } catch (error) {
      if (error instanceof Stop) return { message: error.message, at: error.at };
      throw error;
    }
  }

  #value(depth: number): void {
    this.#space();
    const first = this.#text[this.#at];
    if (first === '{') this.#list(depth, '}', () => this.#member(depth));
    else if (first === '[') this.#list(depth, ']', () => this.#value(depth + 1));
    else if (first === '"') this.#string();
    else this.#numberOrWord();
  }

  #numberOrWord(): void {
    const number = this.#take(NUMBER);
    if (number !== '') {
      if (this.#take(WORD) === '') return;
      throw new Stop(words.badNumber, this.#at - 1);
    }
    const start = this.#at;
    const word = this.#take(WORD);
    if (WORDS.has(word)) return;
    if (word.startsWith("'")) throw new Stop(words.singleQuotes, start);
    throw new Stop(word === '' ? words.missingValue : words.unquoted(word), start);
  }

  #list(depth: number, end: '}' | ']', readOne: () => void): void {
    if (depth >= MAX_VALUE_DEPTH) throw new Stop(words.tooDeep(MAX_VALUE_DEPTH), this.#at);
    this.#at++;
    this.#space();
    if (this.#skip(end)) return;
    for (;;) {
      readOne();
      this.#space();
      if (this.#skip(end)) return;
      if (!this.#skip(',')) throw new Stop(words.missingComma(end), this.#at);
      this.#space();
      if (this.#text[this.#at] === end) throw new Stop(words.trailingComma, this.#at);
    }
  }

  #member(depth: number): void {
    this.#space();
    if (this.#text[this.#at] !== '"') throw new Stop(words.missingName, this.#at);
    this.#string();
    this.#space();
    if (!this.#skip(':')) throw new Stop(words.missingColon, this.#at);
    this.#value(depth + 1);
  }

  #string(): void {
    const start = this.#at++;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined || character === '\n') throw new Stop(words.openString, start);
      if (character < ' ') throw new Stop(words.controlCharacter, this.#at);
      if (character === '\\') {
        if (this.#take(ESCAPE) === '') throw new Stop(words.backslash, this.#at);
        continue;
      }
      this.#at++;
      if (character === '"') return;
    }
  }

  #space(): void {
    this.#take(/[ \n\r\t]*/y);
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += taken.length;
    return taken;
  }
}

/** Lists that are no longer than this stay on their line. */
const SHORT = 60;

/**
 * The same JSON formatted for reading, two spaces for each level. Strings and numbers keep their notation and members
 * their order. The text must be valid.
 */
export function formatJson(text: string): string {
  const tokens = jsonTokens(text);
  let at = 0;
  return readOne('');

  function readOne(indent: string): string {
    const token = tokens[at++] ?? '';
    if (token !== '{' && token !== '[') return token;
    const end = token === '{' ? '}' : ']';
    const items: string[] = [];
    while (tokens[at] !== end && at < tokens.length) {
      items.push(token === '{' ? `${tokens[at++]}: ${readMember(indent)}` : readOne(`${indent}  `));
      if (tokens[at] === ',') at++;
    }
    at++;
    return joinItems({ items, open: token, end, indent });
  }

  function readMember(indent: string): string {
    // The colon.
    at++;
    return readOne(`${indent}  `);
  }
}

function joinItems(list: { items: readonly string[]; open: string; end: string; indent: string }): string {
  const { items, open, end, indent } = list;
  if (items.length === 0) return open + end;
  const line = items.join(', ');
  const isFlat = open === '[' && line.length <= SHORT && !/[[{\n]/.test(line);
  if (isFlat) return `${open}${line}${end}`;
  return `${open}\n${items.map((item) => `${indent}  ${item}`).join(',\n')}\n${indent}${end}`;
}

/** The kind of value in a JSON text; `undefined` for a blank one. */
export function kindOfJson(text: string): ValueKind | undefined {
  const first = text.trimStart()[0];
  if (first === undefined) return undefined;
  if (first === '{') return 'object';
  if (first === '[') return 'array';
  if (first === '"') return 'string';
  if (first === 't' || first === 'f') return 'boolean';
  return first === 'n' ? 'null' : 'number';
}

/** The kinds of JSON values. */
type ValueKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';
