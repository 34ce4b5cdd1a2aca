import { jsonTokens } from '@halyard/protocol';

/** Lists that are no longer than this stay on their line. */
const SHORT = 60;

/**
 * The same JSON laid out for reading, two blanks for each level. Strings and numbers keep their notation and members
 * their order. The text must be valid.
 */
export function layOutJson(text: string): string {
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

/** What kind of value a JSON text is; `undefined` for a blank one. */
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
export type ValueKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';
