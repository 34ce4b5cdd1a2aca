import type { SseReader } from '@halyard/testing';
import type { Chance } from '../simulation/chance.ts';
import { now } from './clock.ts';
import type { FleetNode } from './fleet-node.ts';
import { backoffMs, recordStream, stay } from './reader.ts';
import type { OpenEventSession } from './recorder.ts';
import { freshnessOf } from './rest-reader.ts';
import type { Place, World } from './world.ts';

/** A key and its public id. */
interface NamedKey {
  readonly id: string;
  readonly text: string;
}

/**
 * An OFREP provider: follows the event stream of an environment, whatever happens, and reads all flags for each event,
 * through whichever node a load balancer would choose.
 */
export class EventReader {
  readonly name: string;
  readonly place: Place;
  readonly #world: World;
  readonly #random: Chance;
  readonly #key: NamedKey;
  #address: string | undefined;
  #open: { readonly reader: SseReader; readonly record: OpenEventSession } | undefined;
  #lastEventId: number | undefined;
  #etag: string | undefined;
  /** The newest event that has not been read for. */
  #unread: number | undefined;
  #isReading = false;
  #failures = 0;

  constructor(name: string, place: Place, world: World) {
    this.name = name;
    this.place = place;
    this.#world = world;
    this.#random = world.random.fork();
    this.#key = { id: `${place.project}-key`, text: place.key };
  }

  /** The revision of the last event of the open stream; `undefined` without one. */
  get reached(): number | undefined {
    const session = this.#open?.record.session;
    return session && session.revision + session.frames.length - 1;
  }

  /**
   * Follows until `signal` aborts, and then leaves the open stream as it is: {@link close} ends it. Now and then it leaves by
   * itself, but not once `settling` has aborted.
   */
  async run(signal: AbortSignal, settling: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#address === undefined) this.#address = await this.#read();
      const opened = this.#address === undefined ? undefined : await this.#openStream(this.#address);
      if (opened !== undefined) {
        this.#failures = 0;
        this.#open = opened;
        if (signal.aborted) return;
        await stay(opened.reader, this.#random.between(5_000, 30_000), signal, settling);
        if (signal.aborted) return;
        this.#open = undefined;
      } else {
        // As the published provider does.
        this.#address = undefined;
      }
      this.#failures += 1;
      await Bun.sleep(backoffMs(this.#random, this.#failures));
    }
  }

  /** Leaves, and records nothing from then on. */
  close(): void {
    this.#open?.reader.close();
  }

  async #openStream(address: string) {
    // Not every runtime remembers it.
    const lastEventId = this.#random.next() < 0.8 ? this.#lastEventId : undefined;
    const node = this.#random.pick(this.#world.fleet.nodes);
    return await openRecordedEvents(this.#world, this.name, this.place, {
      node,
      address,
      key: this.#key,
      ...(lastEventId === undefined ? {} : { lastEventId }),
      onEvent: (revision, asksToRead) => {
        this.#lastEventId = revision;
        if (!asksToRead) return;
        this.#unread = revision;
        void this.#readForEvents();
      },
    });
  }

  /** One read at a time, always for the newest event. */
  async #readForEvents(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#unread !== undefined) {
      const after = this.#unread;
      this.#unread = undefined;
      await this.#read(after);
    }
    this.#isReading = false;
  }

  async #read(after?: number): Promise<string | undefined> {
    const node = this.#random.pick(this.#world.fleet.nodes);
    const read = await readBulkRecorded(this.#world, this.place, node, {
      key: this.#key,
      ...(after === undefined ? {} : { after }),
      // Without an address only a whole answer helps.
      ...(this.#etag === undefined || this.#address === undefined ? {} : { etag: this.#etag }),
    });
    this.#etag = read?.etag ?? this.#etag;
    return read?.address;
  }
}

/** Details of a bulk read. */
export interface BulkRead {
  readonly key: NamedKey;
  /** The revision of the event that caused it. */
  readonly after?: number;
  /** The tag of the answer at hand. */
  readonly etag?: string;
}

/** One OFREP read of all flags, recorded unless no answer came. Returns the tag, and the address of the stream. */
export async function readBulkRecorded(
  world: World,
  place: Place,
  node: FleetNode,
  { key, after, etag }: BulkRead,
): Promise<{ readonly etag?: string; readonly address?: string } | undefined> {
  const requestedAt = now();
  const query = after === undefined ? '' : `?flagConfigEtag=${encodeURIComponent(`"${after}"`)}`;

  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${node.url}/environments/${place.environment}/ofrep/v1/evaluate/flags${query}`, {
      method: 'POST',
      headers: { 'X-API-Key': key.text, ...(etag === undefined ? {} : { 'If-None-Match': etag }) },
      body: '{"context":{"targetingKey":"ana"}}',
      signal: AbortSignal.timeout(10_000),
    });
    text = await answer.text();
  } catch {
    // The node is down or frozen: no answer, so nothing that could be right or wrong.
    return undefined;
  }

  const { status, headers } = answer;
  const isGranted = status === 200 || status === 304;
  world.recorder.read({
    kind: 'bulk',
    node: node.name,
    environment: place.name,
    key: key.id,
    requestedAt,
    answeredAt: now(),
    status,
    ...node.processOf(headers),
    ...(isGranted ? { revision: Number(headers.get('x-flags-revision') ?? Number.NaN) } : {}),
    ...(after === undefined ? {} : { after }),
    ...freshnessOf(headers),
  });

  if (status !== 200) return {};
  // A 200 of this route has this shape by specification; without the address no stream is opened, which shows.
  const { eventStreams } = JSON.parse(text) as { eventStreams?: { endpoint: { requestUri: string } }[] };
  const address = eventStreams?.[0]?.endpoint.requestUri;
  const tag = headers.get('etag');
  return { ...(tag === null ? {} : { etag: tag }), ...(address === undefined ? {} : { address }) };
}

/** How to open an event stream. */
export interface EventStreamOpening {
  readonly node: FleetNode;
  /** Path and query, from a bulk read of any node. */
  readonly address: string;
  readonly key: NamedKey;
  readonly lastEventId?: number;
  readonly onEvent?: (revision: number, asksToRead: boolean) => void;
}

/** Opens an event stream and records it to its end, or records its refusal; `undefined` when there is no stream. */
export async function openRecordedEvents(
  world: World,
  readerName: string,
  place: Place,
  { node, address, key, lastEventId, onEvent }: EventStreamOpening,
): Promise<{ readonly reader: SseReader; readonly record: OpenEventSession } | undefined> {
  const known = lastEventId === undefined ? {} : { lastEventId };
  return await recordStream(world, readerName, place, {
    node,
    keyId: key.id,
    path: address,
    headers: lastEventId === undefined ? {} : { 'Last-Event-ID': String(lastEventId) },
    begin: (opening) => world.recorder.openEventSession({ ...opening, ...known }),
    receive: (record, { at, data, fields }) => {
      const revision = Number(fields.find(([name]) => name === 'id')?.[1] ?? Number.NaN);
      const asksToRead = data !== '' && JSON.parse(data).type === 'refetchEvaluation';
      record.event({ at, revision, asksToRead });
      onEvent?.(revision, asksToRead);
    },
  });
}
