import type { Kernel, Owner } from './kernel.ts';
import type { Lane, Link } from './link.ts';

/** What a process of the simulated world answers. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** A process that listens. */
export interface Server {
  readonly owner: Owner;
  readonly handle: Handler;
}

/** Where an address leads, and over which link. */
export interface Route {
  readonly server: Server | undefined;
  readonly link: Link;
}

/** HTTP between the processes of the simulated world: requests, answers in pieces, resets and silence. */
export class Network {
  /** How many pieces of an answer may be on their way: the sender makes no more until some have arrived. */
  window = 100;
  readonly #kernel: Kernel;
  /** Finds the way of a request from a process to a host name. */
  readonly #route: (client: Owner, host: string) => Route;

  constructor(kernel: Kernel, route: (client: Owner, host: string) => Route) {
    this.#kernel = kernel;
    this.#route = route;
  }

  /** As the runtime's `fetch`, for the process whose turn it is. */
  readonly fetch = (url: string, init: RequestInit): Promise<Response> => {
    const client = this.#kernel.owner;
    const { server, link } = this.#route(client, new URL(url).hostname);
    return new Exchange(this.#kernel, client, server, link, this.window).run(url, init);
  };
}

/** One request and its answer. */
class Exchange {
  readonly #kernel: Kernel;
  readonly #client: Owner;
  readonly #server: Server | undefined;
  readonly #link: Link;
  readonly #answer = Promise.withResolvers<Response>();
  /** The end of the answer's body on the client's side. */
  #sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  #source: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'> | undefined;
  #isOver = false;
  readonly #window: number;
  #underWay = 0;
  /** Resolves when the sender may make more. */
  #room: PromiseWithResolvers<void> | undefined;
  #forget: () => void = () => {};

  constructor(kernel: Kernel, client: Owner, server: Server | undefined, link: Link, window: number) {
    this.#window = window;
    this.#kernel = kernel;
    this.#client = client;
    this.#server = server;
    this.#link = link;
  }

  run(url: string, init: RequestInit): Promise<Response> {
    const signal = init.signal ?? undefined;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const [there, back] = [this.#link.lane(), this.#link.lane()];
    signal?.addEventListener('abort', () => {
      this.#fail(signal.reason);
      there(this.#ownerThere(), () => this.#abandon());
    });
    this.#forget = this.#link.onReset(() => this.#reset());

    const server = this.#server;
    if (server === undefined || !server.owner.isAlive) {
      back(this.#client, () => this.#fail(unreachable()));
      return this.#answer.promise;
    }
    there(server.owner, () => {
      const { method, headers, body } = init;
      const request = new Request(url, {
        ...(method === undefined ? {} : { method }),
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined || body === null ? {} : { body }),
      });
      void this.#respond(server, request, there, back);
    });
    return this.#answer.promise;
  }

  #ownerThere(): Owner {
    return this.#server?.owner ?? this.#client;
  }

  async #respond(server: Server, request: Request, there: Lane, back: Lane): Promise<void> {
    const response = await server.handle(request);
    const { status, headers, body } = response;

    // What is not a stream comes in one piece: half of the histories' work would be taking it apart.
    if (headers.get('content-type')?.startsWith('application/json')) {
      const whole = await response.arrayBuffer();
      back(this.#client, () => this.#answerWhole(new Response(whole, { status, headers })));
      return;
    }

    const source = body?.getReader();
    this.#source = source;
    back(this.#client, () => this.#begin(status, headers));
    if (source === undefined) {
      back(this.#client, () => this.#finish());
      return;
    }

    try {
      for (;;) {
        const { done, value } = await source.read();
        if (done) break;
        const piece = value.slice();
        this.#underWay++;
        back(this.#client, () => this.#take(piece, there));
        if (this.#underWay >= this.#window && !this.#isOver) {
          this.#room = Promise.withResolvers();
          await this.#room.promise;
        }
      }
      back(this.#client, () => this.#finish());
    } catch {
      back(this.#client, () => this.#fail(reset()));
    }
  }

  #answerWhole(answer: Response): void {
    if (this.#isOver) return;
    this.#end();
    this.#answer.resolve(answer);
  }

  #begin(status: number, headers: Headers): void {
    if (this.#isOver) return;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#sink = controller;
      },
      cancel: () => {
        this.#end();
        this.#link.lane()(this.#ownerThere(), () => this.#abandon());
      },
    });
    this.#answer.resolve(new Response(status === 304 || status === 204 ? null : body, { status, headers }));
  }

  #take(piece: Uint8Array, there: Lane): void {
    this.#underWay--;
    const room = this.#room;
    this.#room = undefined;
    if (room !== undefined) there(this.#ownerThere(), () => room.resolve());
    if (!this.#isOver) this.#sink?.enqueue(piece);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#end();
    this.#sink?.close();
  }

  #fail(cause: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#answer.reject(cause);
    this.#sink?.error(cause);
  }

  /** The connection is gone on both sides, at once. */
  #reset(): void {
    this.#kernel.after(0, () => this.#fail(reset()), this.#client);
    this.#kernel.after(0, () => this.#abandon(), this.#ownerThere());
  }

  /** The server learns that nothing more is read. */
  #abandon(): void {
    this.#room?.resolve();
    // A body that has failed by itself cannot be canceled, and need not be.
    void this.#source?.cancel().catch(() => {});
  }

  #end(): void {
    this.#isOver = true;
    this.#forget();
  }
}

function unreachable(): Error {
  return Object.assign(new TypeError('Unable to connect'), { code: 'ConnectionRefused' });
}

function reset(): Error {
  return Object.assign(new TypeError('The socket connection was closed unexpectedly'), {
    code: 'ECONNRESET',
  });
}
