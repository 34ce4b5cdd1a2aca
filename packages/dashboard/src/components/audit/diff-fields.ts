import type { Json } from '../../api/types.ts';

/** Two versions of something; `undefined`: there is no such version. */
export interface Versions {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** One field that differs between two versions. */
export interface FieldChange {
  /** Its path, such as `value.colors[2]`; empty for the whole version. */
  readonly path: string;
  /** Absent if the field is new. */
  readonly before?: Json;
  /** Absent if the field was removed. */
  readonly after?: Json;
}

/** What people say about a flag. */
const DETAILS = new Set<string | number>([
  'description',
  'owner',
  'tags',
  'permanent',
  'valueKind',
  'namedValues',
]);

/** Deeper fields are compared as a whole. */
const DEEPEST = 6;

/**
 * The fields that differ between two versions, in the order of the newer one. Objects are compared field by field, and
 * arrays of the same length element by element. `undefined` is a missing version.
 */
export function diffFields(before: Json | undefined, after: Json | undefined): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  compare('', before, after, 0);
  return changes;

  function compare(path: string, one: Json | undefined, other: Json | undefined, depth: number): void {
    if (one === other) return;
    const members = depth < DEEPEST ? membersOfBoth(one, other, depth) : undefined;
    if (members === undefined) {
      if (JSON.stringify(one) === JSON.stringify(other)) return;
      changes.push({
        path,
        ...(one === undefined ? {} : { before: one }),
        ...(other === undefined ? {} : { after: other }),
      });
      return;
    }
    for (const [name, first, second] of members) {
      const isNew = first === undefined || second === undefined;
      if (depth > 0 || !isNew || !isUnwritten(name, first ?? second))
        compare(joined(path, name), first, second, depth + 1);
    }
  }
}

/** Whether a detail of a new or deleted flag is empty, and so not worth showing. */
function isUnwritten(name: string | number, only: Json | undefined): boolean {
  return DETAILS.has(name) && (isEmpty(only) || (name === 'valueKind' && only === 'any'));
}

function isEmpty(only: Json | undefined): boolean {
  return only === '' || only === false || (isArray(only) && only.length === 0);
}

type Pair = readonly [name: string | number, before: Json | undefined, after: Json | undefined];

/** The fields to compare one by one; `undefined` if the two are compared as a whole. */
function membersOfBoth(
  before: Json | undefined,
  after: Json | undefined,
  depth: number,
): readonly Pair[] | undefined {
  if (isArray(before) && isArray(after)) {
    if (before.length !== after.length) return undefined;
    return before.map((element, index) => [index, element, after[index]]);
  }
  // A new or removed state is shown field by field, a new or removed value as a whole.
  const [old, young] = depth === 0 ? [before ?? {}, after ?? {}] : [before, after];
  if (!isObject(old) || !isObject(young)) return undefined;
  const names = new Set([...Object.keys(young), ...Object.keys(old)]);
  return [...names].map((name) => [name, own(old, name), own(young, name)]);
}

function own(object: { readonly [name: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function joined(path: string, name: string | number): string {
  if (typeof name === 'number') return `${path}[${name}]`;
  const isPlain = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name);
  if (!isPlain) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
