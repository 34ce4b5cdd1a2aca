/** A file of another service is not what its format says. The message has the file and the place. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
}

/** A piece of a file of another service, with its place, so that each refusal and each remark can say where. */
export class Piece {
  readonly data: unknown;
  /** Such as `production.json: features[3].name`. */
  readonly place: string;

  constructor(data: unknown, place: string) {
    this.data = data;
    this.place = place;
  }

  /** Whether there is nothing, or `null`. */
  get isAbsent(): boolean {
    return this.data === undefined || this.data === null;
  }

  /** A member of an object; an absent piece where the object lacks it. */
  member(name: string): Piece {
    const members = this.#object();
    const separator = this.place.endsWith(': ') ? '' : '.';
    return new Piece(Object.hasOwn(members, name) ? members[name] : undefined, this.place + separator + name);
  }

  /** The members of an object; none where it is absent. */
  get members(): readonly (readonly [name: string, piece: Piece])[] {
    return this.isAbsent ? [] : Object.keys(this.#object()).map((name) => [name, this.member(name)] as const);
  }

  /** The elements of a list; none where it is absent. */
  get elements(): readonly Piece[] {
    if (this.isAbsent) return [];
    if (!Array.isArray(this.data)) throw this.wrong('a list');
    return this.data.map((element, index) => new Piece(element, `${this.place}[${index}]`));
  }

  /** Whether it is an object. */
  get isObject(): boolean {
    return typeof this.data === 'object' && this.data !== null && !Array.isArray(this.data);
  }

  /** Whether it is absent, or a list, object or text with nothing in it. */
  get isEmpty(): boolean {
    if (this.isAbsent || this.data === '' || this.data === '{}') return true;
    return Array.isArray(this.data) ? this.data.length === 0 : this.isObject && this.members.length === 0;
  }

  text(): string {
    if (typeof this.data === 'string') return this.data;
    throw this.wrong('a text');
  }

  /** The text, or an empty one where it is absent. */
  optionalText(): string {
    return this.isAbsent ? '' : this.text();
  }

  /** A number, also one that is written as a text. */
  number(): number {
    const number = typeof this.data === 'string' && this.data !== '' ? Number(this.data) : this.data;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
    throw this.wrong('a number');
  }

  boolean(byDefault?: boolean): boolean {
    if (typeof this.data === 'boolean') return this.data;
    if (this.isAbsent && byDefault !== undefined) return byDefault;
    throw this.wrong('true or false');
  }

  /** The piece as JSON text. */
  json(): string {
    if (this.data === undefined) throw this.wrong('a value');
    try {
      return JSON.stringify(this.data);
    } catch {
      throw this.wrong('nested less deeply');
    }
  }

  /** The refusal of a piece that is not what it must be. */
  wrong(expected: string): ConversionError {
    return new ConversionError(`${this.place.replace(/: $/, '')} must be ${expected}.`);
  }

  #object(): Record<string, unknown> {
    // The check is that of `isObject`, whose result the compiler does not carry over.
    if (this.isObject) return this.data as Record<string, unknown>;
    throw this.wrong('an object');
  }
}
