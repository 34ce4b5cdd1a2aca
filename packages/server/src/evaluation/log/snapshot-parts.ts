import type { Cursor, Snapshot } from '../../domain/change-log.ts';
import type { ServedContents } from '../catalog/catalog.ts';
import { encodeMessage } from './framing.ts';
import { LogProtocolError, type SnapshotEndMessage, type SnapshotMessage } from './messages.ts';

/** Approximate size of a part before compression, in bytes: small enough that compressing one does not delay a read. */
const PART_BYTES = 256 * 1024;

/** Approximate size of a record without its texts, in bytes. */
const RECORD_BYTES = 100;

/**
 * A snapshot as messages, encoded one by one when they are first needed and then shared by all followers that load it.
 */
export class SnapshotParts {
  readonly cursor: Cursor;
  readonly #encoded: Iterator<Uint8Array>;
  readonly #parts: Uint8Array[] = [];
  #isWhole = false;

  constructor(cursor: Cursor, contents: ServedContents) {
    this.cursor = cursor;
    this.#encoded = encodeSnapshot(cursor, contents);
  }

  /** Whether part `index` is encoded, or is known not to exist. */
  has(index: number): boolean {
    return index < this.#parts.length || this.#isWhole;
  }

  /** Part `index`; `undefined` after the last one, which is the end of the snapshot. */
  at(index: number): Uint8Array | undefined {
    if (index === this.#parts.length) {
      const next = this.#encoded.next();
      if (next.done !== true) this.#parts.push(next.value);
      else this.#isWhole = true;
    }
    return this.#parts[index];
  }
}

/** The messages of a snapshot one by one, each encoded when it is asked for. */
export function* encodeSnapshot(cursor: Cursor, contents: ServedContents): Generator<Uint8Array> {
  const messages = split(contents);
  let next = messages.next();
  for (; next.done !== true; next = messages.next()) yield encodeMessage(next.value);
  yield encodeMessage({ type: 'snapshot-end', cursor, records: next.value });
}

/** Puts a snapshot together from its parts. */
export class SnapshotBuilder {
  readonly #projects: Snapshot['projects'][number][] = [];
  readonly #environments: Snapshot['environments'][number][] = [];
  readonly #states: Snapshot['states'][number][] = [];
  readonly #keys: Snapshot['keys'][number][] = [];
  readonly #relays: Snapshot['relays'][number][] = [];
  #records = 0;

  /** Adds a part. */
  add(part: SnapshotMessage): void {
    const { projects = [], environments = [], states, keys = [], relays = [] } = part;
    for (const project of projects) this.#projects.push(project);
    for (const environment of environments) this.#environments.push(environment);
    for (const key of keys) this.#keys.push(key);
    for (const relay of relays) this.#relays.push(relay);
    const [environmentId = '', pairs = []] = states ?? [];
    for (const [flagKey, state] of pairs) this.#states.push({ environmentId, flagKey, state });
    for (const { length } of [projects, environments, keys, relays, pairs]) this.#records += length;
  }

  /** The snapshot, once its end has come. Throws a {@link LogProtocolError} when parts are missing. */
  finish({ cursor, records }: SnapshotEndMessage): Snapshot {
    if (records !== this.#records)
      throw new LogProtocolError(`its snapshot has ${this.#records} of ${records} records`);
    return {
      cursor,
      projects: this.#projects,
      environments: this.#environments,
      states: this.#states,
      keys: this.#keys,
      relays: this.#relays,
    };
  }
}

/** The parts of a snapshot; returns how many records they have. */
function* split(contents: ServedContents): Generator<SnapshotMessage, number> {
  const { projects, environments, keys, relays } = contents;
  let records = 0;
  for (const part of chunks(projects, ({ name }) => name.length)) {
    records += part.length;
    yield { type: 'snapshot', projects: part };
  }
  for (const { states, ...environment } of environments) {
    records += 1 + states.length;
    yield { type: 'snapshot', environments: [environment] };
    for (const part of chunks(states, ([key, state]) => key.length + state.length)) {
      yield { type: 'snapshot', states: [environment.id, part] };
    }
  }
  for (const part of chunks(keys, (key) => 40 * key.environments.length)) {
    records += part.length;
    yield { type: 'snapshot', keys: part };
  }
  for (const part of chunks(relays, (relay) => 80 * (relay.projects?.length ?? 0))) {
    records += part.length;
    yield { type: 'snapshot', relays: part };
  }
  return records;
}

function* chunks<T>(items: Iterable<T>, sizeOf: (item: T) => number): Generator<readonly T[]> {
  let part: T[] = [];
  let size = 0;
  for (const item of items) {
    part.push(item);
    size += RECORD_BYTES + sizeOf(item);
    if (size < PART_BYTES) continue;
    yield part;
    part = [];
    size = 0;
  }
  if (part.length > 0) yield part;
}
