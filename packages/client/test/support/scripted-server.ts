import { changeEvent } from '@halyard/protocol';
import type { Fetch } from '../../src/platform.ts';

/** A request as the scripted server saw it. */
export interface SeenRequest {
  readonly url: URL;
  readonly path: string;
  readonly headers: Headers;
  readonly init: RequestInit;
}

type Answer = (request: SeenRequest) => Response | Promise<Response>;

/** One stream that was opened at the scripted server. */
export class ScriptedStream {
  readonly response: Response;
  /** Whether the client has gone. */
  isCancelled = false;
  /** The revision of its last change; `undefined` for a stream of whole maps. */
  #held: number | undefined;
  #flags: Readonly<Record<string, unknown>> = {};
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(request: SeenRequest, headers: Record<string, string>) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.isCancelled = true;
      },
    });
    request.init.signal?.addEventListener('abort', () => {
      this.isCancelled = true;
      this.break();
    });
    this.response = new Response(body, { headers: { 'Content-Type': 'text/event-stream', ...headers } });
  }

  /** Sends a whole map: a frame or, to a client that asked for changes, a change from nothing to `to`. */
  frame(data: unknown, to?: number): void {
    this.#held = to ?? (this.#held === undefined ? undefined : this.#held + 1);
    this.#flags = Object(data);
    this.text(
      this.#held === undefined
        ? `data: ${JSON.stringify(data)}\n\n`
        : changeEvent({ from: null, to: this.#held, removed: [] }, JSON.stringify(data)),
    );
  }

  /** Sends the next map in the form that the client asked for. */
  next(flags: Readonly<Record<string, unknown>>): void {
    if (this.#held === undefined) {
      this.frame(flags);
      return;
    }

    const set = Object.entries(flags).filter(([key, state]) => !Bun.deepEquals(state, this.#flags[key]));
    const removed = Object.keys(this.#flags).filter((key) => !Object.hasOwn(flags, key));
    const from = this.#held++;
    this.#flags = flags;
    this.text(changeEvent({ from, to: this.#held, removed }, JSON.stringify(Object.fromEntries(set))));
  }

  text(text: string): void {
    this.bytes(new TextEncoder().encode(text));
  }

  bytes(bytes: Uint8Array): void {
    if (!this.isCancelled) this.#controller.enqueue(bytes);
  }

  /** Ends the stream as a server does. */
  end(): void {
    if (!this.isCancelled) this.#controller.close();
    this.isCancelled = true;
  }

  /** Breaks the connection. */
  break(): void {
    try {
      this.#controller.error(new TypeError('the connection was reset'));
    } catch {
      // It had ended before.
    }
    this.isCancelled = true;
  }
}

/** A service in memory. By default it behaves as Halyard does; each half can be given another script. */
export class ScriptedServer {
  flags: Record<string, unknown> = { a: { enabled: true, value: 1 } };
  /** `undefined` for a server that does not number its maps. */
  revision: number | undefined = 1;
  /** Whether the stream begins with the current map. */
  sendsFirstFrame = true;
  /** Whether it knows changes; an older one sends whole maps to everyone. */
  knowsChanges = true;
  readonly requests: SeenRequest[] = [];
  readonly streams: ScriptedStream[] = [];
  onRest: Answer = () => this.rest();
  onStream: Answer = (request) => this.stream(request);

  readonly fetch: Fetch = async (url, init) => {
    const parsed = new URL(url);
    const request = {
      url: parsed,
      path: parsed.pathname.slice(parsed.pathname.indexOf('/v1/')),
      headers: new Headers(init.headers),
      init,
    };
    this.requests.push(request);
    if (init.signal?.aborted) throw init.signal.reason;
    return await (request.path === '/v1/stream' ? this.onStream(request) : this.onRest(request));
  };

  /** How often a path was asked for. */
  count(path: '/v1/flags' | '/v1/stream'): number {
    return this.requests.filter((request) => request.path === path).length;
  }

  /** The stream that was opened last. */
  get latest(): ScriptedStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error('no stream has been opened');
    return stream;
  }

  /** The answer of a healthy service to a read of all flags. */
  rest(more: Record<string, string> = {}): Response {
    return Response.json(
      { environment: 'production', flags: this.flags },
      { headers: { ...this.#revisionHeader(), ...more } },
    );
  }

  /** A healthy stream. */
  stream(request: SeenRequest, more: Record<string, string> = {}): Response {
    const stream = new ScriptedStream(request, { ...this.#revisionHeader(), ...more });
    this.streams.push(stream);
    const asksForChanges = request.url.searchParams.get('changes') === '1';
    const to = this.knowsChanges && asksForChanges ? this.revision : undefined;
    if (this.sendsFirstFrame) stream.frame(this.flags, to);
    return stream.response;
  }

  /** Changes the flags: one revision, one frame or change on every open stream. */
  change(flags: Record<string, unknown>): void {
    this.flags = flags;
    if (this.revision !== undefined) this.revision++;
    for (const stream of this.streams) if (!stream.isCancelled) stream.next(flags);
  }

  /** Fails every request, open streams too, until {@link heal}. */
  fail(answer: Answer = refuse): void {
    this.onRest = answer;
    this.onStream = answer;
    for (const stream of this.streams) stream.break();
  }

  /** Behaves well again. */
  heal(): void {
    this.onRest = () => this.rest();
    this.onStream = (request) => this.stream(request);
  }

  #revisionHeader(): Record<string, string> {
    return this.revision === undefined ? {} : { 'X-Flags-Revision': String(this.revision) };
  }
}

/** Nothing listens there. */
export function refuse(): never {
  throw new TypeError('connection refused');
}

/** No answer, ever, until the client gives up. */
export function blackHole({ init }: SeenRequest): Promise<Response> {
  return new Promise((_, reject) => {
    init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  });
}

/** An error answer in the specified shape. */
export function errorAnswer(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json(
    { error, message: `it is ${error}`, docs: `https://docs.example/errors/${error}` },
    { status, headers },
  );
}
