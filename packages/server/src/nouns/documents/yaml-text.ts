import { setImmediate } from 'node:timers/promises';
import {
  Composer,
  type CST,
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Pair,
  Parser,
} from 'yaml';
import type { ServiceError } from '../../domain/errors.ts';
import { invalid, quote } from '../../domain/errors.ts';

/**
 * Limits on the nesting and the JSON size of a YAML document; aliases can expand a lot. A lexeme takes about
 * 400 bytes of memory while it is read; a flag with three states has about 60.
 */
const LIMITS = { depth: 64, characters: 32 * 1024 * 1024, nodes: 2_000_000, lexemes: 2_000_000 } as const;

/** The most lexemes of a document that must not be large: 4,000 flags with three states. */
const FEW_LEXEMES = 250_000;

/** Lexemes read before other requests are served. */
const LEXEMES_AT_ONCE = 5_000;

/** A number in JSON syntax; YAML also allows `0x1F`, `.5` and `1_000`. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Rewrites YAML 1.2 as JSON text; the limit is lower unless `isLarge`. Numbers and quoted strings that are valid JSON stay
 * unchanged, members keep their order, duplicates included. Invalid YAML, and YAML that JSON cannot express, are `invalid_argument`.
 */
export async function yamlToJson(text: string, isLarge = true): Promise<string> {
  const document = await parse(text, isLarge);
  const anchored = new Map<string, unknown>();
  let nodes = 0;
  let characters = 0;
  const keep = (piece: string): string => {
    characters += piece.length;
    if (characters > LIMITS.characters) throw tooMuch();
    return piece;
  };
  const write = (node: unknown, depth: number): string => {
    if (depth > LIMITS.depth) throw tooDeep();
    if (++nodes > LIMITS.nodes) throw tooMuch();
    // Not the parser's own search, which scans the whole document for each alias.
    if (isAlias(node)) return write(anchoredNode(anchored, node.source), depth + 1);
    if (isNode(node) && node.anchor !== undefined) rememberAnchor(anchored, node.anchor, node);
    if (isSeq(node)) return `[${node.items.map((item) => write(item, depth + 1)).join(',')}]`;
    if (!isMap(node)) return keep(quotedText(node, text) ?? scalarText(node));
    const members = node.items.map(
      (pair: Pair<unknown, unknown>) =>
        `${keep(quotedText(pair.key, text) ?? nameOf(pair.key))}:${write(pair.value, depth + 1)}`,
    );
    return `{${members.join(',')}}`;
  };
  return write(document.contents, 0);
}

/**
 * The line of a place in YAML or JSON: of paths such as `environments.staging` and `tags[1]`, each within the one before. Of
 * the nearest place around it if the text does not have it; `undefined` when the text cannot be read.
 */
export async function lineOf(text: string, place: readonly string[]): Promise<number | undefined> {
  const document = await parse(text).catch(() => undefined);
  let node: unknown = document?.contents;
  let offset: number | undefined;
  for (const path of place) {
    for (const [step] of hasMember(node, path) ? [[path]] : path.matchAll(/[^.[\]]+|\[\d+\]/g)) {
      const found = memberIn(node, step);
      if (found === undefined) return offset === undefined ? undefined : lineAt(text, offset);
      offset = found.offset;
      node = found.node;
    }
  }
  return offset === undefined ? undefined : lineAt(text, offset);
}

function hasMember(node: unknown, name: string): boolean {
  return memberIn(node, name) !== undefined;
}

/** A member of a map by its name, or an element of a list as `[1]`, and where it begins. */
function memberIn(
  node: unknown,
  step: string,
): { readonly node: unknown; readonly offset: number } | undefined {
  const index = /^\[(\d+)\]$/.exec(step)?.[1];
  if (index !== undefined && isSeq(node)) {
    const item = node.items[Number(index)];
    return isNode(item) ? { node: item, offset: item.range?.[0] ?? 0 } : undefined;
  }
  if (!isMap(node)) return undefined;
  // Of a repeated name, the last one is the error.
  const pair = node.items.findLast(({ key }) => isScalar(key) && String(key.value) === step);
  return isNode(pair?.key) ? { node: pair.value, offset: pair.key.range?.[0] ?? 0 } : undefined;
}

/** Where the parser stopped. */
class NotYaml extends Error {
  readonly offset: number;
  readonly code: string;

  constructor(offset: number, code: string) {
    super(code);
    this.offset = offset;
    this.code = code;
  }
}

/**
 * Parses one document, and stops at the first error. The library's own `parseDocument` continues and records
 * every error with a copy of its line: 100 kB of quotes took 8 s and 1.3 GB.
 */
async function parse(text: string, isLarge = true): Promise<Document> {
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false });
  // The library calls this for every error. It is private, and can only be replaced on the object.
  // It catches errors thrown here and calls again with its own: the first one counts.
  let first: NotYaml | undefined;
  (composer as unknown as { onError: ErrorHandler }).onError = (source, code, _message, isWarning) => {
    if (isWarning === true) return;
    first ??= new NotYaml(offsetOf(source), code);
    throw first;
  };
  let document: Document | undefined;
  try {
    for (const next of composer.compose(
      await tokensOf(text, isLarge ? LIMITS.lexemes : FEW_LEXEMES),
      true,
      text.length,
    )) {
      if (document !== undefined)
        throw invalid('The file contains more than one YAML document: send one of them.');
      document = next;
    }
  } catch (error) {
    if (!(error instanceof NotYaml)) throw error;
    throw invalid(`The document is not valid YAML${placeOf(text, error.offset)} (${error.code}).`, {
      cause: error,
    });
  }
  return document ?? new Document(null);
}

type ErrorHandler = (source: ErrorSource, code: string, message: string, isWarning?: boolean) => void;

type ErrorSource = number | readonly number[] | { readonly offset: number };

/**
 * The parser's tokens, counted as they are read: each takes memory, and nested ones stack. Other requests are served
 * in between, because a long document takes seconds.
 */
async function tokensOf(text: string, maxLexemes: number): Promise<readonly CST.Token[]> {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > maxLexemes) {
      throw invalid(`The document has more than ${maxLexemes} YAML tokens: send it as JSON.`);
    }
    for (const token of withoutErrors(parser.next(lexeme))) tokens.push(token);
    if (count % LEXEMES_AT_ONCE === 0) await setImmediate();
    // Each level uses up to two entries.
    if (parser.stack.length > 2 * LIMITS.depth) throw tooDeep();
  }
  tokens.push(...withoutErrors(parser.end()));
  return tokens;
}

function* withoutErrors(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  for (const token of tokens) {
    if (token.type === 'error' || token.type === 'flow-error-end') {
      throw new NotYaml(token.offset, 'UNEXPECTED_TOKEN');
    }
    yield token;
  }
}

function offsetOf(source: ErrorSource): number {
  if (typeof source === 'number') return source;
  return 'offset' in source ? source.offset : (source[0] ?? 0);
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  return ` in line ${lineAt(text, offset)}, column ${offset - start + 1}`;
}

/** The line in which a character is, from 1. */
function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function tooDeep(): ServiceError {
  return invalid(`The document is nested deeper than ${LIMITS.depth} levels.`);
}

/** Refuses an anchor that is defined twice: the meaning of an alias would depend on the order. */
function rememberAnchor(anchored: Map<string, unknown>, anchor: string, node: unknown): void {
  const known = anchored.get(anchor);
  if (known !== undefined && known !== node) {
    throw invalid(`The document has the anchor ${quote(anchor)} twice: give each its own name.`);
  }
  anchored.set(anchor, node);
}

function anchoredNode(anchored: ReadonlyMap<string, unknown>, anchor: string): unknown {
  const node = anchored.get(anchor);
  if (node === undefined)
    throw invalid(`The document has an alias of ${quote(anchor)}, but no anchor before it has that name.`);
  return node;
}

function tooMuch(): ServiceError {
  return invalid('The document is too large once its aliases are expanded.');
}

/** A double-quoted string that is valid JSON already, escapes included; otherwise `undefined`. */
function quotedText(node: unknown, source: string): string | undefined {
  if (!isScalar(node) || node.type !== 'QUOTE_DOUBLE' || node.range == null) return undefined;
  const [start, end] = node.range;
  const text = source.slice(start, end);
  try {
    return JSON.parse(text) === node.value ? text : undefined;
  } catch {
    // YAML has more escapes than JSON, and multi-line strings.
    return undefined;
  }
}

/** Names are strings: `123:` and `true:` mean the strings `123` and `true`. */
function nameOf(key: unknown): string {
  if (isScalar(key)) {
    if (typeof key.value === 'string') return JSON.stringify(key.value);
    if (key.source !== undefined) return JSON.stringify(key.source);
  }
  throw invalid('The document has a member whose name is not a string: JSON cannot express it.');
}

function scalarText(node: unknown): string {
  if (node === null || node === undefined) return 'null';
  const { value, source } = isScalar(node) ? node : { value: node, source: undefined };
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value);
  if (typeof value === 'number') {
    if (source !== undefined && JSON_NUMBER.test(source)) return source;
    if (Number.isFinite(value)) return JSON.stringify(value);
  }
  throw invalid(`The document has ${String(source ?? 'a value')}, which JSON cannot express.`);
}
