import { CliError } from './cli-error.ts';

/** A JSON object of an answer, read member by member. Throws a {@link CliError} if a member has the wrong type. */
export class Fields {
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(data: unknown) {
    if (typeof data !== 'object' || data === null || Array.isArray(data)) throw unexpected('an object');
    // A non-null object that is not an array has string members.
    this.#members = data as Record<string, unknown>;
  }

  /** The names of all members. */
  get names(): readonly string[] {
    return Object.keys(this.#members);
  }

  /** A member of any type; `undefined` if absent. */
  any(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  text(name: string): string {
    return this.optionalText(name) ?? fail(name);
  }

  optionalText(name: string): string | undefined {
    const value = this.any(name);
    return value === undefined || typeof value === 'string' ? value : fail(name);
  }

  number(name: string): number {
    const value = this.any(name);
    return typeof value === 'number' ? value : fail(name);
  }

  boolean(name: string): boolean {
    const value = this.any(name);
    return typeof value === 'boolean' ? value : fail(name);
  }

  /** A member that is an object. */
  fields(name: string): Fields {
    return new Fields(this.any(name));
  }

  optionalFields(name: string): Fields | undefined {
    return this.any(name) === undefined ? undefined : this.fields(name);
  }

  /** A member that is an array of objects. */
  list(name: string): Fields[] {
    return this.#array(name).map((item) => new Fields(item));
  }

  /** A member that is an array of strings. */
  texts(name: string): string[] {
    return this.#array(name).map((item) => (typeof item === 'string' ? item : fail(name)));
  }

  #array(name: string): readonly unknown[] {
    const value = this.any(name);
    return Array.isArray(value) ? value : fail(name);
  }
}

function fail(name: string): never {
  throw unexpected(`"${name}"`);
}

function unexpected(expected: string): CliError {
  return new CliError(
    `Cannot read the server's answer: expected ${expected}. The server may be a different version than this command.`,
  );
}

/**
 * Parses JSON for display: whole numbers beyond 2^53 keep their digits, so that `JSON.stringify` shows the stored
 * value. Throws a `SyntaxError`.
 */
export function parseForDisplay(text: string): unknown {
  return JSON.parse(text, (_member, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER && context?.source !== undefined
      ? rawJson(context.source)
      : value,
  );
}

function rawJson(source: string): unknown {
  // Part of the language since ES2026 and of this runtime; the type library does not declare it yet.
  return (JSON as typeof JSON & { rawJSON(text: string): unknown }).rawJSON(source);
}

/** Whether the text is one JSON value. */
export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
