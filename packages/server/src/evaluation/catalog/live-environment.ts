import { changeEvent, frame, USAGE_HEADER, USAGE_SECONDS } from '@halyard/protocol';
import type { StateOperation, StateText } from '../../domain/project.ts';
import { compress, compressAside, type Encoding, MAX_INLINE_BYTES } from '../../http/compression.ts';
import { FlagTable, member } from './flag-table.ts';
import { compressed, type Representation, represent, representNegotiable } from './representation.ts';

const encoder = new TextEncoder();
const EMPTY_FRAME = frame('{}');
const FRAME_START = encoder.encode(EMPTY_FRAME.slice(0, -'}\n\n'.length));
const FRAME_END = encoder.encode('}\n\n');
const BODY_END = encoder.encode('}}');

/** An environment at one revision: one object for as long as the revision lasts, so that what is made of it is made once. */
export interface ServedEnvironment {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly revision: number;
  /** Flag keys with their state texts. */
  states(): readonly (readonly [flagKey: string, state: StateText])[];
}

/**
 * One environment as readers see it. Bytes are built on first demand and kept until the next revision, so each
 * body, tag, compressed form and frame is built once for all readers.
 */
export class LiveEnvironment {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  #table = new FlagTable();
  readonly #bodyStart: Uint8Array;
  readonly #single = new Map<string, Representation>();
  readonly #compressed = new Map<Encoding, Representation>();
  /** The codings that a map is being compressed in on another thread. */
  readonly #compressing = new Set<Encoding>();
  #revision: number;
  #wantsUsage = false;
  #whole: Representation | undefined;
  #frame: Uint8Array | undefined;
  #wholeChange: Uint8Array | undefined;
  /** This revision, once it has been handed out: then its table does not change any more. */
  #served: ServedEnvironment | undefined;
  /** Resolves with the next revision, where someone waits for it. */
  #next: PromiseWithResolvers<void> | undefined;

  constructor(identity: { id: string; projectId: string; name: string; revision: number }) {
    this.id = identity.id;
    this.projectId = identity.projectId;
    this.name = identity.name;
    this.#revision = identity.revision;
    this.#bodyStart = encoder.encode(`{"environment":${JSON.stringify(identity.name)},"flags":{`);
  }

  /** Counts the changes of the environment; travels as `X-Flags-Revision`. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether clients are asked to report reads: then each answer of `/v1` says so. (Spec: S17.1) */
  get wantsUsage(): boolean {
    return this.#wantsUsage;
  }

  set wantsUsage(wants: boolean) {
    this.#wantsUsage = wants;
    this.#forgetBodies();
  }

  /** How many flags have a state here. */
  get size(): number {
    return this.#table.size;
  }

  /** Every flag with its state text, as it is now. */
  states(): readonly (readonly [key: string, state: StateText])[] {
    return this.#table.entries();
  }

  /** The environment as it is now. Costs nothing but the object; the next change pays for a copy of the table. */
  served(): ServedEnvironment {
    const table = this.#table;
    this.#served ??= {
      id: this.id,
      projectId: this.projectId,
      name: this.name,
      revision: this.#revision,
      states: () => table.entries(),
    };
    return this.#served;
  }

  /** A copy of the flags as they are now, in which the next revision can be prepared. */
  draft(): FlagTable {
    return new FlagTable(this.#table);
  }

  /**
   * Moves to the next revision. The operations have been validated; `null` removes a flag. Returns those that made a
   * difference for readers.
   */
  apply(revision: number, operations: readonly StateOperation[]): readonly StateOperation[] {
    const table = this.#served === undefined ? this.#table : this.draft();
    const difference = operations.filter((operation) => setState(table, operation));

    this.replace(revision, table);
    return difference;
  }

  /** Moves to the next revision, whose flags are prepared. */
  replace(revision: number, table: FlagTable): void {
    this.#table = table;
    this.#revision = revision;
    this.#served = undefined;
    this.#frame = undefined;
    this.#wholeChange = undefined;
    this.#forgetBodies();
    this.#next?.resolve();
    this.#next = undefined;
  }

  /** Adds what the environment wants clients to know to the header of an answer. */
  announce(headers: Headers): Headers {
    if (this.#wantsUsage) headers.set(USAGE_HEADER, String(USAGE_SECONDS));
    return headers;
  }

  #forgetBodies(): void {
    this.#whole = undefined;
    this.#single.clear();
    this.#compressed.clear();
  }

  /** Waits until this revision is here, at most for `longestMs`. Returns whether it is. */
  async waitForRevision(revision: number, longestMs: number): Promise<boolean> {
    const timeout = Promise.withResolvers<void>();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      timeout.resolve();
    }, longestMs);
    while (this.#revision < revision && !isOver) {
      this.#next ??= Promise.withResolvers();
      await Promise.race([this.#next.promise, timeout.promise]);
    }
    clearTimeout(timer);
    return this.#revision >= revision;
  }

  /** The state text of a flag, or `undefined` where it does not exist. */
  state(key: string): StateText | undefined {
    return this.#table.get(key);
  }

  /** The body of `GET /v1/flags/{key}`, or `undefined` where the flag does not exist. (Spec: S4.2) */
  flag(key: string): Representation | undefined {
    return this.#single.get(key) ?? this.#makeSingle(key);
  }

  /** The body of `GET /v1/flags`. (Spec: S4.1) */
  whole(): Representation {
    if (this.#whole !== undefined) return this.#whole;
    this.#whole = representNegotiable(this.#table.encode(this.#bodyStart, BODY_END), this.#revision);
    this.announce(this.#whole.headers);
    return this.#whole;
  }

  /** The body of `GET /v1/flags`, compressed; `undefined` while that is being made, for a large map. */
  wholeCompressed(encoding: Encoding): Representation | undefined {
    const known = this.#compressed.get(encoding);
    if (known !== undefined) return known;
    const plain = this.whole();
    if (plain.bytes.length > MAX_INLINE_BYTES) {
      if (!this.#compressing.has(encoding)) void this.#compressAside(plain, encoding);
      return undefined;
    }
    const made = compressed(plain, encoding, compress(plain.bytes, encoding));
    this.#compressed.set(encoding, made);
    return made;
  }

  /** One at a time for each coding, however often the map changes; what is late for its revision is dropped. */
  async #compressAside(plain: Representation, encoding: Encoding): Promise<void> {
    this.#compressing.add(encoding);
    try {
      const bytes = await compressAside(plain.bytes, encoding);
      if (this.#whole === plain) this.#compressed.set(encoding, compressed(plain, encoding, bytes));
    } catch {
      // No memory for it: readers get the plain map, and the next one causes another attempt.
    } finally {
      this.#compressing.delete(encoding);
    }
  }

  /** The body of a batch read: the asked flags that exist, each once. (Spec: S4.4, S4.5, S10.10) */
  select(keys: readonly string[]): string {
    const members: string[] = [];
    for (const key of new Set(keys)) {
      const state = this.#table.get(key);
      if (state !== undefined) members.push(member(key, state));
    }
    return `{"environment":${JSON.stringify(this.name)},"flags":{${members.join(',')}}}`;
  }

  /** The whole map as one frame of the event stream: `data: <json>` and a blank line. (Spec: S6.2, S6.3) */
  frame(): Uint8Array {
    this.#frame ??= this.#table.encode(FRAME_START, FRAME_END);
    return this.#frame;
  }

  /**
   * The event that makes this revision of the one before it, which differed in `difference`. Where the difference is not
   * known, it is {@link wholeChange}, which makes it of anything. (Spec: S26.3, S26.4)
   */
  change(difference: readonly StateOperation[] | undefined): Uint8Array {
    if (difference === undefined) return this.wholeChange();

    const set: string[] = [];
    const removed: string[] = [];
    // A row of the log names each flag once.
    for (const [key, state] of difference) {
      if (state === null) removed.push(key);
      else set.push(member(key, state));
    }

    const to = this.#revision;
    return encoder.encode(changeEvent({ from: to - 1, to, removed }, `{${set.join(',')}}`));
  }

  /** The whole map as one event of the stream of changes: a change from nothing. (Spec: S26.2) */
  wholeChange(): Uint8Array {
    if (this.#wholeChange !== undefined) return this.#wholeChange;

    const empty = changeEvent({ from: null, to: this.#revision, removed: [] }, '{}');
    const inside = empty.indexOf('{}') + 1;
    const [start, end] = [empty.slice(0, inside), empty.slice(inside)];
    this.#wholeChange = this.#table.encode(encoder.encode(start), encoder.encode(end));
    return this.#wholeChange;
  }

  #makeSingle(key: string): Representation | undefined {
    const state = this.#table.get(key);
    if (state === undefined) return undefined;
    const made = represent(encoder.encode(singleBody(this.name, key, state)), this.#revision);
    this.announce(made.headers);
    this.#single.set(key, made);
    return made;
  }
}

/** Puts a state into a table; `null` removes the flag. Returns whether that made a difference. */
export function setState(table: FlagTable, [key, state]: StateOperation): boolean {
  return state === null ? table.delete(key) : table.set(key, state);
}

/** The state's members at the top level, behind the environment and the key. */
function singleBody(environment: string, key: string, state: StateText): string {
  return `{"environment":${JSON.stringify(environment)},"key":${JSON.stringify(key)},${state.slice(1)}`;
}
