import { CliError } from './cli-error.ts';

/** A JSON object of the server's answer, read member by member; what is not as it should be ends the command. */
export class Fields {
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(data: unknown) {
    if (typeof data !== 'object' || data === null || Array.isArray(data)) throw unexpected('an object');
    // A non-null object that is no array has string members.
    this.#members = data as Record<string, unknown>;
  }

  /** The names of all members. */
  get names(): readonly string[] {
    return Object.keys(this.#members);
  }

  /** A member of any type; `undefined` when it is absent. */
  any(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  text(name: string): string {
    return this.optionalText(name) ?? fail(`"${name}"`);
  }

  optionalText(name: string): string | undefined {
    const value = this.any(name);
    return value === undefined || typeof value === 'string' ? value : fail(`"${name}"`);
  }

  number(name: string): number {
    const value = this.any(name);
    return typeof value === 'number' ? value : fail(`"${name}"`);
  }

  boolean(name: string): boolean {
    const value = this.any(name);
    return typeof value === 'boolean' ? value : fail(`"${name}"`);
  }

  /** A member that is an object. */
  fields(name: string): Fields {
    return new Fields(this.any(name));
  }

  /** A member that is an array of objects. */
  list(name: string): Fields[] {
    return this.#array(name).map((item) => new Fields(item));
  }

  /** A member that is an array of strings. */
  texts(name: string): string[] {
    return this.#array(name).map((item) => (typeof item === 'string' ? item : fail(`"${name}"`)));
  }

  #array(name: string): readonly unknown[] {
    const value = this.any(name);
    return Array.isArray(value) ? value : fail(`"${name}"`);
  }
}

function fail(what: string): never {
  throw unexpected(what);
}

function unexpected(what: string): CliError {
  return new CliError(
    `The server's answer has no ${what} where one should be: it may be of another version than this command.`,
  );
}
