import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Pair, parseDocument } from 'yaml';
import type { ServiceError } from '../../domain/service-error.ts';
import { invalid, quote } from '../../domain/strict-members.ts';

/** Deepest nesting and most JSON that a YAML document may stand for; aliases can make little much. */
const LIMITS = { depth: 64, characters: 32 * 1024 * 1024, nodes: 2_000_000 } as const;

/** A number as JSON writes it; YAML also knows `0x1F`, `.5` and `1_000`. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Rewrites YAML 1.2 as JSON text. Numbers and quoted texts that are JSON already stay as they are, members keep their
 * order, duplicates included. What JSON cannot say and documents that are no YAML are `invalid_argument`.
 */
export function yamlToJson(text: string): string {
  const document = parse(text);
  const anchored = new Map<string, unknown>();
  let nodes = 0;
  let characters = 0;
  const keep = (piece: string): string => {
    characters += piece.length;
    if (characters > LIMITS.characters) throw tooMuch();
    return piece;
  };
  const write = (node: unknown, depth: number): string => {
    if (depth > LIMITS.depth) throw invalid(`The body is nested deeper than ${LIMITS.depth} levels.`);
    if (++nodes > LIMITS.nodes) throw tooMuch();
    // Found here rather than by the parser's own search, which goes through the whole document for each alias.
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

function parse(text: string): Document {
  let document: Document;
  try {
    document = parseDocument(text, { uniqueKeys: false, logLevel: 'silent' });
  } catch (cause) {
    // The parser recurses: a body of nothing but brackets overflows its stack.
    throw invalid('The body cannot be read as YAML: it is nested too deeply.', { cause });
  }
  const [error] = document.errors;
  if (error === undefined) return document;
  const [position] = error.linePos ?? [];
  const place = position === undefined ? '' : ` in line ${position.line}, column ${position.col}`;
  throw invalid(`The body is not valid YAML${place} (${error.code}).`, { cause: error });
}

/** An anchor that is used again for something else is refused: which one an alias means would depend on the order. */
function rememberAnchor(anchored: Map<string, unknown>, anchor: string, node: unknown): void {
  const known = anchored.get(anchor);
  if (known !== undefined && known !== node) {
    throw invalid(`The body has the anchor ${quote(anchor)} twice: give each its own name.`);
  }
  anchored.set(anchor, node);
}

function anchoredNode(anchored: ReadonlyMap<string, unknown>, anchor: string): unknown {
  const node = anchored.get(anchor);
  if (node === undefined)
    throw invalid(`The body has an alias of ${quote(anchor)}, which no anchor before it names.`);
  return node;
}

function tooMuch(): ServiceError {
  return invalid('The body is too large once its aliases are written out.');
}

/** A text in double quotes that is JSON as it stands, with its own escapes; `undefined` for everything else. */
function quotedText(node: unknown, source: string): string | undefined {
  if (!isScalar(node) || node.type !== 'QUOTE_DOUBLE' || node.range == null) return undefined;
  const [start, end] = node.range;
  const text = source.slice(start, end);
  try {
    return JSON.parse(text) === node.value ? text : undefined;
  } catch {
    // YAML has more escapes, and lets a text go on in the next line.
    return undefined;
  }
}

/** A name is a text; `123:` and `true:` mean the texts `123` and `true`. */
function nameOf(key: unknown): string {
  if (isScalar(key)) {
    if (typeof key.value === 'string') return JSON.stringify(key.value);
    if (key.source !== undefined) return JSON.stringify(key.source);
  }
  throw invalid('The body has a member whose name is no text: JSON has no such thing.');
}

function scalarText(node: unknown): string {
  if (node === null || node === undefined) return 'null';
  const { value, source } = isScalar(node) ? node : { value: node, source: undefined };
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value);
  if (typeof value === 'number') {
    if (source !== undefined && JSON_NUMBER.test(source)) return source;
    if (Number.isFinite(value)) return JSON.stringify(value);
  }
  throw invalid(`The body has ${String(source ?? 'a value')}, which JSON cannot say.`);
}
