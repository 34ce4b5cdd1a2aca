import { connect, type Socket } from 'node:net';
import { type AnswerHead, AnswerParser } from './answer-parser.ts';
import { type SseComment, type SseFrame, SseParser } from './sse-parser.ts';
import { PATIENCE_MS, within } from './waiting.ts';

/**
 * How a stream ended. `closed`: the server ended the body properly; `cut`: it ended the connection in the middle of
 * the body; `reset`: it tore the connection down; `left`: we did, with {@link SseReader.close}.
 */
export interface SseEnd {
  readonly how: 'closed' | 'cut' | 'reset' | 'left';
  /** Epoch milliseconds with fractions. */
  readonly at: number;
}

/** How to open an event stream. */
export interface OpenSseOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** How long to wait for the answer's head. Default 30,000 ms. */
  readonly timeoutMs?: number;
  /** Called with every frame as it comes. */
  readonly onFrame?: (frame: SseFrame) => void;
  /** `everything` (default) keeps frames, comments and raw bytes; `nothing` is for long runs with `onFrame`. */
  readonly keep?: 'everything' | 'nothing';
}

/**
 * Reads one event stream over a plain socket, so that a test sees what no HTTP client shows: raw bytes, comments,
 * times, and how exactly the stream ended. Made by {@link openSse}.
 */
export class SseReader {
  /** Every frame so far, unless `keep` is `nothing`. */
  readonly frames: SseFrame[] = [];
  /** Every comment so far, unless `keep` is `nothing`. */
  readonly comments: SseComment[] = [];
  /** Settles when the stream has ended, in whatever way; never rejects. */
  readonly ended: Promise<SseEnd>;
  /** When the last byte of the body came, epoch milliseconds; the time of opening before any did. */
  lastByteAt = now();

  readonly #head: AnswerHead;
  readonly #socket: Socket;
  readonly #raw: Buffer[] = [];
  readonly #parser: SseParser;
  readonly #options: OpenSseOptions;
  readonly #waiting: (() => void)[] = [];
  #endReached: ((end: SseEnd) => void) | undefined;
  #end: SseEnd | undefined;
  #nextIndex = 0;

  constructor(head: AnswerHead, socket: Socket, options: OpenSseOptions) {
    this.#head = head;
    this.#socket = socket;
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#endReached = resolve;
    });
    this.#parser = new SseParser(
      (frame) => this.#receive(frame),
      (comment) => {
        if (this.#options.keep !== 'nothing') this.comments.push(comment);
      },
    );
  }

  /** The answer's status: 200 for a stream. */
  get status(): number {
    return this.#head.status;
  }

  get headers(): Headers {
    return this.#head.headers;
  }

  /** How the stream ended; `undefined` while it is open. */
  get end(): SseEnd | undefined {
    return this.#end;
  }

  /** The body so far as it came, chunk framing removed. */
  get raw(): Buffer {
    return Buffer.concat(this.#raw);
  }

  /** The body so far as text: of an error answer, the JSON. */
  get text(): string {
    return this.raw.toString('utf8');
  }

  /** The beginning of a last, incomplete frame. */
  get unfinished(): string {
    return this.#parser.unfinished;
  }

  /**
   * The next frame, in order, each given once. Rejects after `timeoutMs` (default 30,000) and when the stream ends
   * before a frame comes.
   */
  async nextFrame(timeoutMs = PATIENCE_MS): Promise<SseFrame> {
    const deadline = now() + timeoutMs;
    for (;;) {
      const frame = this.frames[this.#nextIndex];
      if (frame !== undefined) {
        this.#nextIndex += 1;
        return frame;
      }
      if (this.#end !== undefined) throw new Error(`the stream was ${this.#end.how} before the next frame`);
      await this.#news(deadline - now());
    }
  }

  /** How the stream ended, once it has. Rejects when it is still open after 30 s, or `timeoutMs`. */
  async untilEnded(timeoutMs?: number): Promise<SseEnd> {
    return await within('the stream ends', this.ended, timeoutMs);
  }

  /** Stops reading from the socket: the kernel's buffers fill, then the server's. */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads on after {@link pause}. */
  resume(): void {
    this.#socket.resume();
  }

  /** Leaves the stream. Safe to call twice. */
  close(): void {
    this.finish('left');
  }

  /** For {@link openSse}: takes bytes of the body. */
  receiveBody(bytes: Buffer): void {
    this.lastByteAt = now();
    if (this.#options.keep !== 'nothing') this.#raw.push(Buffer.from(bytes));
    this.#parser.push(bytes, this.lastByteAt);
  }

  /** For {@link openSse}: notes how the stream ended; only the first call counts. */
  finish(how: SseEnd['how']): void {
    if (this.#end !== undefined) return;
    this.#end = { how, at: now() };
    this.#socket.destroy();
    this.#endReached?.(this.#end);
    this.#tell();
  }

  #receive(frame: SseFrame): void {
    if (this.#end !== undefined) return;
    if (this.#options.keep !== 'nothing') this.frames.push(frame);
    this.#options.onFrame?.(frame);
    this.#tell();
  }

  #tell(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #news(withinMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await within('the stream brings its next frame', promise, Math.max(0, withinMs));
  }
}

/**
 * Opens an event stream with a GET of `url`. Returns the reader as soon as the answer's head has arrived, whatever its
 * status. Rejects when the connection fails before that or the time-out passes.
 */
export async function openSse(url: string, options: OpenSseOptions = {}): Promise<SseReader> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<SseReader>();
  let reader: SseReader | undefined;
  const socket = connect({ host: hostname, port: Number(port || 80) });

  const fail = (message: string, cause?: unknown): void => {
    clearTimeout(timer);
    socket.destroy();
    reject(new Error(message, { cause }));
  };
  const timer = setTimeout(() => fail('no answer came in time'), options.timeoutMs ?? PATIENCE_MS);
  const parser = new AnswerParser({
    onHead: (head) => {
      clearTimeout(timer);
      reader = new SseReader(head, socket, options);
      resolve(reader);
    },
    onBody: (bytes) => reader?.receiveBody(bytes),
    onComplete: () => reader?.finish('closed'),
  });

  socket.on('connect', () => {
    const headers = { host, accept: 'text/event-stream', ...options.headers };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  });
  socket.on('data', (bytes: Buffer) => {
    try {
      parser.push(bytes);
    } catch (cause) {
      fail('the answer is no HTTP', cause);
      reader?.finish('cut');
    }
  });
  socket.on('end', () => {
    parser.end();
    endOf(reader, 'cut');
  });
  socket.on('error', (cause) => endOf(reader, 'reset', cause));
  socket.on('close', () => endOf(reader, 'cut'));
  function endOf(opened: SseReader | undefined, how: SseEnd['how'], cause?: unknown): void {
    if (opened === undefined) fail('the connection ended before an answer came', cause);
    else opened.finish(how);
  }

  return await promise;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
