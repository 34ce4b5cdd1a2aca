import type { Cursor } from '../../domain/change-log.ts';
import type { ServedContents } from '../catalog/catalog.ts';
import { encodeMessage } from './framing.ts';
import type { SnapshotMessage } from './messages.ts';

/** About how much one part holds before compression, in bytes. Compressing one must not delay a read. */
const PART_BYTES = 256 * 1024;

/** What a record takes besides its texts, in bytes: about. */
const RECORD_BYTES = 100;

/**
 * A snapshot as messages, encoded one by one when they are first needed and then shared by all followers that load it.
 */
export class SnapshotParts {
  readonly cursor: Cursor;
  readonly #messages: Iterator<SnapshotMessage, number>;
  readonly #parts: Uint8Array[] = [];
  #isComplete = false;

  constructor(cursor: Cursor, contents: ServedContents) {
    this.cursor = cursor;
    this.#messages = split(contents);
  }

  /** Part `index`; `undefined` after the last one, which is the end of the snapshot. */
  at(index: number): Uint8Array | undefined {
    if (index === this.#parts.length && !this.#isComplete) this.#parts.push(this.#next());
    return this.#parts[index];
  }

  #next(): Uint8Array {
    const next = this.#messages.next();
    this.#isComplete = next.done === true;
    return encodeMessage(
      next.done === true ? { type: 'snapshot-end', cursor: this.cursor, records: next.value } : next.value,
    );
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

function* chunks<T>(items: readonly T[], sizeOf: (item: T) => number): Generator<readonly T[]> {
  let start = 0;
  let size = 0;
  for (const [index, item] of items.entries()) {
    size += RECORD_BYTES + sizeOf(item);
    if (size < PART_BYTES) continue;
    yield items.slice(start, index + 1);
    start = index + 1;
    size = 0;
  }
  if (start < items.length) yield items.slice(start);
}
