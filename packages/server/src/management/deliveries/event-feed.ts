import { EventStream } from '../../http/event-stream.ts';
import { encodeEvent, type ScreenEvent } from './screen-event.ts';

/** Milliseconds between two keep-alives. Before each, the reader's session or token is checked again. */
const KEEP_ALIVE_MS = 15_000;

/** Bytes a screen may leave unread before it is cut; it reconnects and fetches everything again. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** An event, because a browser hides comments from its page, and the page must know that the stream is alive. */
const KEEP_ALIVE = encodeEvent({ name: 'beat', data: {} });

/** Who reads events. */
export interface EventReaderOptions {
  /** Only events of this project, and those of no project; absent: every event. */
  readonly project: string | undefined;
  /** Whether the reader's session or token is still valid. */
  readonly stillValid: () => Promise<boolean>;
}

/** One open stream of events for screens. */
class EventReader extends EventStream {
  readonly #project: string | undefined;

  constructor({ project, stillValid }: EventReaderOptions) {
    super({ maxQueuedBytes: MAX_QUEUED_BYTES, stillValid });
    this.#project = project;
  }

  /** Whether an event of this project concerns the reader. */
  wants(project: string | undefined): boolean {
    return project === undefined || this.#project === undefined || this.#project === project;
  }
}

/** Hands events to every open screen. Without screens it costs nothing: events are not even built. */
export class EventFeed {
  readonly #readers = new Set<EventReader>();
  readonly #timer: Timer;

  /** `keepAliveMs` is for tests. */
  constructor({ keepAliveMs = KEEP_ALIVE_MS }: { readonly keepAliveMs?: number } = {}) {
    this.#timer = setInterval(() => this.#keepAlive(), keepAliveMs);
    this.#timer.unref();
  }

  /** How many screens watch. */
  get size(): number {
    return this.#readers.size;
  }

  /** Opens a stream that begins with `hello` and continues with every event published from now on. */
  open(options: EventReaderOptions, hello: ScreenEvent): ReadableStream<Uint8Array> {
    const reader = new EventReader(options);
    this.#readers.add(reader);
    return reader.open(encodeEvent(hello), (gone) => this.#readers.delete(gone));
  }

  /** Sends an event to the screens that it concerns. A screen that does not keep up is cut. */
  publish(event: ScreenEvent): void {
    let bytes: Uint8Array | undefined;
    for (const reader of this.#readers) {
      if (!reader.wants(event.project)) continue;
      bytes ??= encodeEvent(event);
      if (!reader.send(bytes)) this.#end(reader);
    }
  }

  /** Ends every stream: this node can no longer promise every change. */
  endAll(): void {
    for (const reader of this.#readers) this.#end(reader);
  }

  /** Ends everything. Safe to call twice. */
  close(): void {
    clearInterval(this.#timer);
    this.endAll();
  }

  #end(reader: EventReader): void {
    this.#readers.delete(reader);
    reader.end();
  }

  #keepAlive(): void {
    for (const reader of this.#readers) {
      void reader.isAuthorized().then((isAuthorized) => {
        if (!isAuthorized || !reader.send(KEEP_ALIVE)) this.#end(reader);
      });
    }
  }
}
