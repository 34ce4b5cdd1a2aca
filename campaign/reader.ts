import { openSse, type SseFrame, type SseReader } from '@halyard/testing';
import type { Chance } from '../simulation/chance.ts';
import type { StreamSession } from './checker/history.ts';
import { now } from './clock.ts';
import type { FleetNode } from './fleet-node.ts';
import type { OpenSession } from './recorder.ts';
import type { Place, World } from './world.ts';

/** First and longest wait before a reader tries again. */
const BACKOFF = { firstMs: 50, longestMs: 2_000 };

/** A client that keeps a stream open, whatever happens, and goes to another node when one fails it. */
export class StreamReader {
  readonly name: string;
  readonly place: Place;
  readonly #world: World;
  readonly #open: typeof openRecorded;
  readonly #random: Chance;
  #node: FleetNode;
  #stream: RecordedStream | undefined;
  #failures = 0;

  /** `open` opens its streams: of whole maps, or of changes. */
  constructor(name: string, place: Place, node: FleetNode, world: World, open = openRecorded) {
    this.name = name;
    this.place = place;
    this.#node = node;
    this.#world = world;
    this.#open = open;
    this.#random = world.random.fork();
  }

  /** The revision of the last frame of the open stream; `undefined` without one. */
  get reached(): number | undefined {
    const session = this.#stream?.record.session;
    return session && session.revision + session.frames.length - 1;
  }

  /** Reads until `signal` aborts, and then leaves the open stream as it is: {@link close} ends it. */
  async run(signal: AbortSignal, settling: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const session = await this.#open(this.#world, this.name, this.place, this.#node);
      if (session !== undefined) {
        this.#failures = 0;
        this.#stream = session;
        // It may have been aborted while the stream was being opened.
        if (signal.aborted) return;
        await stay(session.reader, this.#random.between(5_000, 60_000), signal, settling);
        if (signal.aborted) return;
        this.#stream = undefined;
      }
      this.#node = this.#random.pick(this.#world.fleet.nodes);
      this.#failures += 1;
      await Bun.sleep(backoffMs(this.#random, this.#failures));
    }
  }

  /** Leaves, and records nothing from then on. */
  close(): void {
    this.#stream?.reader.close();
  }
}

/**
 * Resolves when the stream has ended or `signal` aborts. Streams do not last for ever: after `longestMs` the reader leaves by
 * itself, but not once `settling` has aborted.
 */
export async function stay(
  reader: SseReader,
  longestMs: number,
  signal: AbortSignal,
  settling: AbortSignal,
): Promise<void> {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  const leave = () => {
    if (!settling.aborted) reader.close();
  };
  const timer = setTimeout(leave, longestMs);
  await Promise.race([reader.ended, stopped]);
  clearTimeout(timer);
}

/** How long to wait before the next attempt, in milliseconds. */
export function backoffMs(random: Chance, failures: number): number {
  const cap = Math.min(BACKOFF.longestMs, BACKOFF.firstMs * 2 ** failures);
  return cap * random.between(0.5, 1);
}

/** A stream being recorded. */
export interface RecordedStream {
  readonly reader: SseReader;
  readonly record: OpenSession;
}

/** Opens a stream and records it to its end, or records its refusal; `undefined` when there is no stream. */
export async function openRecorded(
  world: World,
  readerName: string,
  place: Place,
  node: FleetNode,
  key: { readonly id: string; readonly text: string } = { id: `${place.project}-key`, text: place.key },
): Promise<RecordedStream | undefined> {
  return await recordStream(world, readerName, place, {
    node,
    keyId: key.id,
    path: `/v1/stream?env=${place.environment}`,
    headers: { 'X-Service-Key': key.text },
    begin: (opening) => world.recorder.openSession(opening),
    receive: (record, { data, at }) => record.frame({ at, content: data }),
  });
}

/** How to open a stream, and how to record it. */
export interface StreamRecording<Opened> {
  readonly node: FleetNode;
  readonly keyId: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly begin: (opening: Omit<StreamSession, 'frames' | 'ended'>) => Opened;
  readonly receive: (record: Opened, frame: SseFrame) => void;
}

/** As {@link openRecorded}, for any kind of stream. */
export async function recordStream<Opened extends Pick<OpenSession, 'end'>>(
  world: World,
  readerName: string,
  place: Place,
  { node, keyId, path, headers, begin, receive }: StreamRecording<Opened>,
): Promise<{ readonly reader: SseReader; readonly record: Opened } | undefined> {
  const requestedAt = now();
  const common = { node: node.name, environment: place.name, key: keyId, requestedAt };

  // Frames may come in the same piece as the head, before the answer is in our hands.
  const early: SseFrame[] = [];
  let record: Opened | undefined;
  let reader: SseReader;
  try {
    reader = await openSse(`${node.url}${path}`, {
      headers,
      timeoutMs: 10_000,
      keep: 'nothing',
      onFrame: (frame) => {
        if (record === undefined) early.push(frame);
        else receive(record, frame);
      },
    });
  } catch {
    // The node is down, frozen or unreachable: no answer, so nothing that could be right or wrong.
    return undefined;
  }

  if (reader.status !== 200) {
    const { status } = reader;
    world.recorder.read({ ...common, kind: 'stream', answeredAt: now(), status, freshness: 'current' });
    reader.close();
    return undefined;
  }

  const opened = begin({
    id: `${readerName}#${nextSession(readerName)}`,
    reader: readerName,
    ...common,
    openedAt: now(),
    revision: Number(reader.headers.get('x-flags-revision') ?? Number.NaN),
    ...node.processOf(reader.headers),
  });
  record = opened;
  for (const frame of early) receive(opened, frame);
  void reader.ended.then(({ how, at }) => opened.end(how, at));
  return { reader, record: opened };
}

const sessions = new Map<string, number>();

/** The number of a reader's next stream. */
function nextSession(readerName: string): number {
  const next = (sessions.get(readerName) ?? 0) + 1;
  sessions.set(readerName, next);
  return next;
}
