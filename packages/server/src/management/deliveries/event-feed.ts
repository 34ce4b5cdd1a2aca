import { EventReader, type EventReaderOptions } from './event-reader.ts';
import { encodeEvent, type ScreenEvent } from './screen-event.ts';

/** Milliseconds between two beats; on each, it is also asked whether the reader is still let in. */
const BEAT_MS = 15_000;

/** An event and no comment: a browser tells its page of no comment, and the page must know that the stream lives. */
const BEAT = encodeEvent({ name: 'beat', data: {} });

/** Hands events to every open screen. While nobody watches it costs nothing: no event is even made. */
export class EventFeed {
  readonly #readers = new Set<EventReader>();
  readonly #timer: Timer;

  /** `beatMs` is for tests. */
  constructor({ beatMs = BEAT_MS }: { readonly beatMs?: number } = {}) {
    this.#timer = setInterval(() => this.#beat(), beatMs);
    this.#timer.unref();
  }

  /** How many screens watch. */
  get size(): number {
    return this.#readers.size;
  }

  /** Opens a stream that begins with `hello` and goes on with every event published from now on. */
  open(options: EventReaderOptions, hello: ScreenEvent): ReadableStream<Uint8Array> {
    const reader = new EventReader(options);
    this.#readers.add(reader);
    return reader.open(encodeEvent(hello), () => this.#readers.delete(reader));
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

  #beat(): void {
    for (const reader of this.#readers) {
      void reader.isLetIn().then((isLetIn) => {
        if (!isLetIn || !reader.send(BEAT)) this.#end(reader);
      });
    }
  }
}
