import { elementsOf, membersOf, memberText, type ValueKind } from '@halyard/protocol';
import { invalid, quote, ServiceError } from './errors.ts';
import { checkValue } from './flag-state-text.ts';
import type { StateText } from './project.ts';
import { RawJson, type Writable, writeJson } from './raw-json.ts';
import { at, invalidAt, memberPath, readMembers } from './strict-members.ts';

/**
 * The named values of a flag as compact JSON text: a list of objects with `name`, `value` and perhaps `description`, in the order
 * of the menu. Values keep their writer's text, as in a state.
 */
export type NamedValuesText = string;

/** The text of a flag without named values. */
export const NO_NAMED_VALUES: NamedValuesText = '[]';

/** Most named values of a flag, the bytes of all of them as JSON, and the characters of their texts. */
export const MAX_NAMED_VALUES = { count: 50, bytes: 64 * 1024, name: 64, description: 200 } as const;

/** A value that a flag declares, for menus. */
export interface NamedValue {
  readonly name: string;
  /** Compact JSON text. */
  readonly valueText: string;
  readonly description?: string;
}

/** The text of a list of named values, which {@link readNamedValues} has not checked. */
export function namedValuesText(values: readonly NamedValue[]): NamedValuesText {
  return writeJson(
    values.map(
      ({ name, valueText, description }): Writable => ({ name, value: new RawJson(valueText), description }),
    ),
  );
}

/**
 * Reads a list of named values from the raw text of a request; `path` says where in the body it is. Names and values are each
 * there once, so that a value has one name. Anything else is `invalid_argument`. The text must be valid JSON. (Spec: S21.1)
 */
export function readNamedValues(text: string, path: string): NamedValuesText {
  const elements = elementsOf(text);
  if (elements === undefined) throw invalidAt(path, 'must be a list of { "name": …, "value": … }.');
  if (elements.length > MAX_NAMED_VALUES.count)
    throw invalidAt(path, `has ${elements.length} entries: at most ${MAX_NAMED_VALUES.count} are kept.`);

  const values = elements.map((element, index) => readNamedValue(element, `${path}[${index}]`));
  for (const [index, { name, valueText }] of values.entries()) {
    const place = `${path}[${index}]`;
    const earlier = values.slice(0, index);
    if (earlier.some((other) => other.name === name))
      throw invalidAt(place, `has the name ${quote(name)} a second time: give each name once.`);
    const same = earlier.find((other) => other.valueText === valueText);
    if (same !== undefined)
      throw invalidAt(place, `has the same value as ${quote(same.name)}: give each value one name.`);
  }

  const result = namedValuesText(values);
  const bytes = Buffer.byteLength(result);
  if (bytes > MAX_NAMED_VALUES.bytes)
    throw invalidAt(path, `is ${bytes} bytes long as JSON: at most ${MAX_NAMED_VALUES.bytes} are kept.`);
  return result;
}

function readNamedValue(text: string, path: string): NamedValue {
  const members = readMembers(text, path, { required: ['name', 'value'], optional: ['description'] });
  const name: unknown = JSON.parse(members.get('name') ?? 'null');
  if (!isLine(name, MAX_NAMED_VALUES.name) || name === '') {
    const rule = `must be 1 to ${MAX_NAMED_VALUES.name} characters on one line, without spaces at the start or end.`;
    throw invalidAt(memberPath(path, 'name'), rule);
  }
  const description: unknown = JSON.parse(members.get('description') ?? '""');
  if (!isLine(description, MAX_NAMED_VALUES.description)) {
    const rule = `must be at most ${MAX_NAMED_VALUES.description} characters on one line.`;
    throw invalidAt(memberPath(path, 'description'), rule);
  }

  const valueText = checkValue(members.get('value') ?? 'null', memberPath(path, 'value'));
  return { name, valueText, ...(description !== '' && { description }) };
}

/** A text without control characters, halves of characters, and spaces at the start or end. */
function isLine(data: unknown, maxLength: number): data is string {
  if (typeof data !== 'string') return false;
  return data.length <= maxLength && data.trim() === data && !/[\p{Cc}\p{Cs}]/u.test(data);
}

/** The named values of a stored text; none where it is damaged. */
export function namedValuesOf(text: NamedValuesText): readonly NamedValue[] {
  if (text === NO_NAMED_VALUES) return [];
  try {
    JSON.parse(text);
  } catch {
    // Damaged: people declare them again.
    return [];
  }
  return (elementsOf(text) ?? []).flatMap((element) => {
    const members = new Map(membersOf(element));
    const valueText = members.get('value');
    const name: unknown = JSON.parse(members.get('name') ?? 'null');
    const description: unknown = JSON.parse(members.get('description') ?? 'null');
    if (typeof name !== 'string' || valueText === undefined) return [];
    return [{ name, valueText, ...(typeof description === 'string' && { description }) }];
  });
}

/** A stored text as an answer can hold it. */
export function readableNamedValues(text: NamedValuesText): NamedValuesText {
  return text === NO_NAMED_VALUES ? text : namedValuesText(namedValuesOf(text));
}

/** The name of the value that a state holds; `undefined` for a value without a name. The texts decide: `1.0` is not `1`. */
export function nameOfStateValue(values: readonly NamedValue[], state: StateText): string | undefined {
  // Most flags have no named values, and their states are not taken apart.
  const text = values.length === 0 ? undefined : memberText(state, ['value']);
  return text === undefined ? undefined : values.find(({ valueText }) => valueText === text)?.name;
}

/** What a value of each kind looks like; other kinds take any. */
const KINDS: Partial<Record<ValueKind, { readonly begins: RegExp; readonly is: string }>> = {
  text: { begins: /^"/, is: 'a text' },
  number: { begins: /^[-\d]/, is: 'a number' },
};

/** Refuses named values that are not of the kind that the flag declares. `invalid_argument`. (Spec: S21.2) */
export function checkKindOfValues(
  { namedValues, valueKind }: { readonly namedValues: NamedValuesText; readonly valueKind: ValueKind },
  path = 'namedValues',
): void {
  if (valueKind === 'any' || valueKind === 'json' || namedValues === NO_NAMED_VALUES) return;
  if (valueKind === 'none') {
    const advice = 'remove them, or choose another kind of value';
    throw invalid(`${at(path)} has values, but the flag is only on or off: ${advice}.`, { place: [path] });
  }
  const kind = KINDS[valueKind];
  const other = namedValuesOf(namedValues).find(({ valueText }) => kind?.begins.test(valueText) === false);
  if (other === undefined) return;
  const advice = 'change the value, or the kind of value that the flag declares';
  throw invalid(`${at(path)} has ${quote(other.name)}, which is not ${kind?.is}: ${advice}.`, {
    place: [path],
  });
}

/** Whether {@link readNamedValues} accepts a text, for what other versions and other services wrote. */
export function acceptedNamedValues(text: string): NamedValuesText | undefined {
  try {
    return readNamedValues(text, 'namedValues');
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
