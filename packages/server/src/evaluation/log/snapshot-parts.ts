import type { Cursor, Snapshot } from '../../domain/change-log.ts';
import type { ServedContents } from '../catalog/catalog.ts';
import type { ServedKeys } from '../catalog/key-index.ts';
import type { ServedEnvironment } from '../catalog/live-environment.ts';
import { encodeMessage } from './framing.ts';
import { LogProtocolError, type SnapshotEndMessage, type SnapshotMessage } from './messages.ts';

/** Approximate size of a part before compression, in bytes: small enough that compressing one does not delay a read. */
const PART_BYTES = 256 * 1024;

/** Approximate size of a record without its texts, in bytes. */
const RECORD_BYTES = 100;

/** A piece of a snapshot holds about this many bytes, or what could be made of it in a few milliseconds. */
const PIECE = { bytes: 128 * 1024, ms: 3 } as const;

/**
 * Records of one moment as messages. Each is encoded once, when the first follower needs it, and never changes, so that all
 * followers share the bytes, whatever else they get.
 */
class SnapshotObject {
  readonly #messages: Iterator<SnapshotMessage>;
  readonly #parts: Uint8Array[] = [];
  /** The message that is encoded next, until it is: there may be no memory for it now. */
  #next: IteratorResult<SnapshotMessage> | undefined;
  #records = 0;

  constructor(messages: Iterator<SnapshotMessage>) {
    this.#messages = messages;
  }

  /** How many records the parts have that were asked for. */
  get records(): number {
    return this.#records;
  }

  /** Part `index`, none before which has been left out; `undefined` after the last one. */
  at(index: number): Uint8Array | undefined {
    if (index < this.#parts.length) return this.#parts[index];
    this.#next ??= this.#messages.next();
    if (this.#next.done === true) return undefined;
    const { value } = this.#next;
    this.#parts.push(encodeMessage(value));
    this.#records += recordsIn(value);
    this.#next = undefined;
    return this.#parts[index];
  }
}

/** The objects of what a catalog has handed out: as long as that is the newest, or is being sent. */
const OBJECTS = new WeakMap<ServedEnvironment | ServedKeys, SnapshotObject>();

/**
 * The bytes of a snapshot, in pieces that take a few milliseconds at most: whoever reads them lets the event loop turn in
 * between. (docs/decisions/0042-snapshots-are-objects.md)
 */
export function* encodeSnapshot(cursor: Cursor, contents: ServedContents): Generator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let records = 0;
  let endsAt = performance.now() + PIECE.ms;
  for (const object of objectsOf(contents)) {
    for (let index = 0, part = object.at(0); part !== undefined; part = object.at(++index)) {
      parts.push(part);
      bytes += part.length;
      if (bytes < PIECE.bytes && performance.now() < endsAt) continue;

      yield Buffer.concat(parts);
      [parts, bytes] = [[], 0];
      endsAt = performance.now() + PIECE.ms;
    }
    records += object.records;
  }

  yield Buffer.concat([...parts, encodeMessage({ type: 'snapshot-end', cursor, records })]);
}

function* objectsOf({ projects, environments, keys, relays }: ServedContents): Generator<SnapshotObject> {
  // Short, and different for each scope.
  yield new SnapshotObject(
    chunks(
      projects,
      ({ name }) => name.length,
      (part) => ({ projects: part }),
    ),
  );
  for (const environment of environments) yield objectOf(environment, environmentMessages);
  for (const each of keys) yield objectOf(each, keyMessages);
  yield new SnapshotObject(
    chunks(
      relays,
      (relay) => 80 * (relay.projects?.length ?? 0),
      (part) => ({ relays: part }),
    ),
  );
}

function objectOf<T extends ServedEnvironment | ServedKeys>(
  served: T,
  messagesOf: (served: T) => Iterator<SnapshotMessage>,
): SnapshotObject {
  const object = OBJECTS.get(served) ?? new SnapshotObject(messagesOf(served));
  OBJECTS.set(served, object);
  return object;
}

function* environmentMessages(environment: ServedEnvironment): Generator<SnapshotMessage> {
  const { id, projectId, name, revision } = environment;
  const environments = [{ id, projectId, name, revision }];
  let isFirst = true;
  for (const message of chunks(
    environment.states(),
    ([key, state]) => key.length + state.length,
    (part) => ({ states: [id, part] }),
  )) {
    yield isFirst ? { ...message, environments } : message;
    isFirst = false;
  }
  if (isFirst) yield { type: 'snapshot', environments };
}

function keyMessages(keys: ServedKeys): Generator<SnapshotMessage> {
  return chunks(
    keys,
    ({ environments }) => 40 * environments.length,
    (part) => ({ keys: part }),
  );
}

function recordsIn({ projects, environments, states, keys, relays }: SnapshotMessage): number {
  return [projects, environments, states?.[1], keys, relays].reduce(
    (sum, list) => sum + (list?.length ?? 0),
    0,
  );
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
    this.#records += recordsIn(part);
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

/** Some items at a time, each as a message. */
function* chunks<T>(
  items: Iterable<T>,
  sizeOf: (item: T) => number,
  members: (part: readonly T[]) => Omit<SnapshotMessage, 'type'>,
): Generator<SnapshotMessage> {
  let part: T[] = [];
  let size = 0;
  for (const item of items) {
    part.push(item);
    size += RECORD_BYTES + sizeOf(item);
    if (size < PART_BYTES) continue;

    yield { type: 'snapshot', ...members(part) };
    part = [];
    size = 0;
  }
  if (part.length > 0) yield { type: 'snapshot', ...members(part) };
}
