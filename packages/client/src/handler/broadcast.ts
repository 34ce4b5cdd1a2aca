import {
  type FlagMap,
  frame,
  KEEP_ALIVE,
  KEEP_ALIVE_SECONDS,
  ofrepEvent,
  ofrepOpening,
} from '@halyard/protocol';
import type { FlagsClient } from '../client-types.ts';
import type { FlagsChange } from '../options.ts';
import { encoder, View } from './view.ts';

/** A reader with more than this many bytes waiting is cut: it comes back and gets the newest map. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** So many keep-alives pass between two checks whether a reader may still read: a minute. */
const KEEP_ALIVES_PER_CHECK = 4;

/**
 * What readers get. `map`: the flags that are exposed, as on the service's stream. `changes`: what differs between two of
 * these maps. `refetch`: only that something has changed, as OFREP's providers want it.
 */
export type Channel = 'map' | 'changes' | 'refetch';

/** Says that something has changed, where the service does not number its maps. */
const UNNUMBERED_EVENT = frame('{"type":"refetchEvaluation"}');

/** A stream that is open. */
interface Stream {
  readonly channel: Channel;
  /** Who reads, where the application says it. */
  readonly reader: string | undefined;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** Whether its reader may still read. Never rejects. */
  readonly isAuthorized: () => Promise<boolean>;
  /** Keep-alives sent since the last check, which may still be under way. */
  keepAlives: number;
}

/**
 * Hands the changes of one client on to many streams. Frame k of a stream of maps has the revision of its first frame
 * plus k, as on the service; where that would not hold, because the client skipped revisions while it was offline, the
 * streams are ended and their readers come back for the newest map. A change names its revisions, so it skips as the client does.
 */
export class Broadcast {
  readonly #client: FlagsClient;
  readonly #select: (flags: FlagMap) => FlagMap;
  readonly #streams = new Set<Stream>();
  #timer: ReturnType<typeof setInterval> | undefined;
  /** The revision of the last change. */
  #revision: number | undefined;
  /** The revision that streams of changes have; a revision without a change counts, too. */
  #held: number | undefined;
  /** The map of the last change: streams that open before the next one begin with it. */
  #view: View | undefined;
  #listening = new AbortController();

  constructor(client: FlagsClient, select: (flags: FlagMap) => FlagMap) {
    this.#client = client;
    this.#select = select;
  }

  /** Streams that are open. */
  get size(): number {
    return this.#streams.size;
  }

  /** Streams that one reader has open. */
  countOf(reader: string): number {
    return [...this.#streams].filter((stream) => stream.reader === reader).length;
  }

  /**
   * Opens a stream, which begins with the current map, or tells its reader to ask for it. A reader that comes back and
   * already knows of the current revision (`lastEventId`) gets no event.
   */
  open(
    channel: Channel,
    headers: Record<string, string>,
    {
      lastEventId,
      ...about
    }: Pick<Stream, 'isAuthorized' | 'reader'> & { readonly lastEventId?: string | null },
  ): Response {
    let own: Stream | undefined;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          controller.enqueue(
            channel === 'refetch' ? this.#opening(lastEventId ?? null) : this.#first(channel),
          );
          own = { channel, controller, ...about, keepAlives: 0 };
          this.#add(own);
        },
        cancel: () => {
          if (own) this.#drop(own);
        },
      },
      { highWaterMark: MAX_QUEUED_BYTES, size: (bytes) => bytes?.byteLength ?? 0 },
    );
    return new Response(body, { headers: { ...headers, ...STREAM_HEADERS } });
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of [...this.#streams]) this.#end(stream);
  }

  #add(stream: Stream): void {
    if (this.#streams.size === 0) this.#begin();
    this.#streams.add(stream);
  }

  #begin(): void {
    this.#revision = this.#client.revision;
    this.#held = this.#revision;
    this.#listening = new AbortController();

    const { signal } = this.#listening;
    this.#client.onChange((change) => this.#pass(change), { signal });
    // A client that is stale or closed misses changes; readers who stayed would take old flags for current ones.
    this.#client.onStatus((status) => status !== 'ready' && this.close(), { signal });
    this.#timer = setInterval(() => this.#keepAlive(), KEEP_ALIVE_SECONDS * 1_000);
  }

  #keepAlive(): void {
    const bytes = encoder.encode(KEEP_ALIVE);
    for (const stream of [...this.#streams]) {
      this.#send(stream, bytes);
      if (++stream.keepAlives === KEEP_ALIVES_PER_CHECK) void this.#check(stream);
      // The check has taken as long as the time between two.
      else if (stream.keepAlives === 2 * KEEP_ALIVES_PER_CHECK) this.#end(stream);
    }
  }

  /** Ends a stream whose reader may no longer read. */
  async #check(stream: Stream): Promise<void> {
    if (await stream.isAuthorized()) stream.keepAlives = 0;
    else this.#end(stream);
  }

  #pass({ flags, revision }: FlagsChange): void {
    const isNext = revision === undefined || this.#revision === undefined || revision === this.#revision + 1;
    this.#revision = revision;

    try {
      this.#sendAll('refetch', () =>
        encoder.encode(revision === undefined ? UNNUMBERED_EVENT : ofrepEvent(revision)),
      );
      this.#advance(flags, revision); // first, as it needs the map before
      if (isNext) this.#sendAll('map', () => this.#viewOf(flags).frame());
      else this.#endAll('map');
    } catch (thrown) {
      // The application's choice of flags threw, and the client reports it. No reader may miss a frame.
      this.close();
      throw thrown;
    }
  }

  /** Brings streams of changes to a revision. Where it is not a later one, they end, and their readers come back. */
  #advance(flags: FlagMap, revision: number | undefined): void {
    const [from, before] = [this.#held, this.#view];
    if (revision === from && before?.source === flags) return;

    // Without a map before, no stream of changes is open.
    if (before && from !== undefined && revision !== undefined && revision > from)
      this.#sendAll('changes', () => this.#viewOf(flags).since(before, from, revision));
    else this.#endAll('changes');
    this.#held = revision;
  }

  /** What a stream of maps or of changes begins with. Where maps are not numbered, that is a map. */
  #first(channel: 'map' | 'changes'): Uint8Array {
    const { revision } = this.#client;
    const flags = this.#client.all();
    if (channel === 'map' || revision === undefined) return this.#viewOf(flags).frame();

    // Streams that are open may not have it yet: the client hears of revisions that change nothing, and tells others first.
    this.#advance(flags, revision);
    return this.#viewOf(flags).whole(revision);
  }

  #viewOf(flags: FlagMap): View {
    if (this.#view?.source !== flags) this.#view = new View(flags, this.#select);
    return this.#view;
  }

  #opening(lastEventId: string | null): Uint8Array {
    const { revision } = this.#client;
    // A second or two: the readers of a process that ends do not all come back at once.
    const retryMs = 1_000 + Math.floor(Math.random() * 2_000);
    return encoder.encode(
      revision === undefined ? UNNUMBERED_EVENT : ofrepOpening(revision, lastEventId, retryMs),
    );
  }

  /** Sends the same bytes to every stream of a channel; makes them only if there is one. */
  #sendAll(channel: Channel, make: () => Uint8Array): void {
    let bytes: Uint8Array | undefined;
    for (const stream of [...this.#streams]) {
      if (stream.channel !== channel) continue;
      bytes ??= make();
      this.#send(stream, bytes);
    }
  }

  #send(stream: Stream, bytes: Uint8Array): void {
    if ((stream.controller.desiredSize ?? 0) > 0) stream.controller.enqueue(bytes);
    else this.#cut(stream);
  }

  /** Ends a stream and drops what waits in it; after a close, its reader could keep that for as long as it likes. */
  #cut(stream: Stream): void {
    this.#drop(stream);
    stream.controller.error(); // without a reason, which Bun would print
  }

  #endAll(channel: Channel): void {
    for (const stream of [...this.#streams]) if (stream.channel === channel) this.#end(stream);
  }

  #end(stream: Stream): void {
    this.#drop(stream);
    try {
      stream.controller.close();
    } catch {
      // The reader had gone already.
    }
  }

  #drop(stream: Stream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#listening.abort();
    this.#view = undefined;
  }
}

/** Keep proxies from collecting a stream, and tell readers what it is. */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;
