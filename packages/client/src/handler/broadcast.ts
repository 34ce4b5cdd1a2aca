import { type FlagMap, frame, KEEP_ALIVE, KEEP_ALIVE_SECONDS } from '@halyard/protocol';
import type { FlagsClient } from '../client-types.ts';
import type { FlagsChange } from '../options.ts';

/** A reader with more than this many bytes waiting is cut: it comes back and gets the newest map. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/**
 * Hands the changes of one client on to many streams. Frame k of a stream has the revision of its first frame plus k,
 * as on the service; where that would not hold, because the client skipped revisions while it was offline, the streams
 * are ended and their readers come back for the newest map.
 */
export class Broadcast {
  readonly #client: FlagsClient;
  readonly #serialise: (flags: FlagMap) => string;
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #revision: number | undefined;
  #listening = new AbortController();

  constructor(client: FlagsClient, serialise: (flags: FlagMap) => string) {
    this.#client = client;
    this.#serialise = serialise;
  }

  /** Streams that are open. */
  get size(): number {
    return this.#streams.size;
  }

  /** Opens a stream that begins with the current map. */
  open(headers: Record<string, string>): Response {
    let own: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          own = controller;
          controller.enqueue(this.#frame(this.#client.all()));
          this.#add(controller);
        },
        cancel: () => {
          if (own) this.#drop(own);
        },
      },
      { highWaterMark: MAX_QUEUED_BYTES, size: (bytes) => bytes?.byteLength ?? 0 },
    );
    return new Response(body, {
      headers: {
        ...headers,
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-cache, no-transform',
        'X-Accel-Buffering': 'no',
      },
    });
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of [...this.#streams]) this.#end(stream);
  }

  #add(stream: ReadableStreamDefaultController<Uint8Array>): void {
    if (this.#streams.size === 0) this.#begin();
    this.#streams.add(stream);
  }

  #begin(): void {
    this.#revision = this.#client.revision;
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    this.#client.onChange((change) => this.#pass(change), { signal });
    // A client that is stale or closed misses changes; readers who stayed would take old flags for current ones.
    this.#client.onStatus((status) => status !== 'ready' && this.close(), { signal });
    this.#heartbeat = setInterval(
      () => this.#send(new TextEncoder().encode(KEEP_ALIVE)),
      KEEP_ALIVE_SECONDS * 1_000,
    );
  }

  #pass({ flags, revision }: FlagsChange): void {
    const isNext = revision === undefined || this.#revision === undefined || revision === this.#revision + 1;
    this.#revision = revision;
    if (!isNext) {
      this.close();
      return;
    }
    try {
      this.#send(this.#frame(flags));
    } catch (thrown) {
      // The application's choice of flags threw, and the client reports it. No reader may miss a frame.
      this.close();
      throw thrown;
    }
  }

  #frame(flags: FlagMap): Uint8Array {
    return new TextEncoder().encode(frame(this.#serialise(flags)));
  }

  #send(bytes: Uint8Array): void {
    for (const stream of [...this.#streams]) {
      if ((stream.desiredSize ?? 0) > 0) stream.enqueue(bytes);
      else this.#end(stream);
    }
  }

  #end(stream: ReadableStreamDefaultController<Uint8Array>): void {
    this.#drop(stream);
    try {
      stream.close();
    } catch {
      // The reader had gone already.
    }
  }

  #drop(stream: ReadableStreamDefaultController<Uint8Array>): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#listening.abort();
  }
}
