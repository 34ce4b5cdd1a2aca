/** A piece of JSON that is written into an answer exactly as it is. */
export class RawJson {
  readonly text: string;

  /** `text` must be one valid JSON value. */
  constructor(text: string) {
    this.text = text;
  }
}

/** The text as a piece of an answer; `undefined` without a text. */
export function rawJson(text: string | undefined): RawJson | undefined {
  return text === undefined ? undefined : new RawJson(text);
}

/** Input of {@link writeJson}: JSON data with raw pieces in it. Maps become objects; absent members are left out. */
export type Writable =
  | RawJson
  | string
  | number
  | boolean
  | null
  | readonly Writable[]
  | ReadonlyMap<string, Writable>
  | { readonly [member: string]: Writable | undefined };

/** JSON text of data that may hold raw pieces. For answers of known, shallow shape: it recurses. */
export function writeJson(value: Writable): string {
  if (value instanceof RawJson) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(writeJson).join(',')}]`;
  const members = value instanceof Map ? [...value] : Object.entries(value);
  const texts = members.flatMap(([name, member]) =>
    member === undefined ? [] : [`${JSON.stringify(name)}:${writeJson(member)}`],
  );
  return `{${texts.join(',')}}`;
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(value: Writable): value is readonly Writable[] {
  return Array.isArray(value);
}
