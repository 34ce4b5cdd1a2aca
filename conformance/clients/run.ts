/** The server of one run of a scenario: Halyard as a client sees it, until its script says otherwise. */
import { createServer, type Server, type Socket } from 'node:net';
import { lastingPort } from '@halyard/testing';
import { sendMap, serveRest, serveStream } from './answers.ts';
import { Exchange, readRequest, type SeenRequest } from './exchange.ts';
import { type Answer, ENVIRONMENT, type Flags, type Scenario } from './scenario.ts';

/** More requests than this, in one scenario, are a client that asks without pause. */
const MAX_REQUESTS = 60;

/** How long the connections of a closed client may take to end. */
const CLOSE_MS = 2_000;

/** How long a closed client is watched, for what it sent before and then for what it must not send. */
const SILENCE_MS = 100;

/** A server on a port of its own. */
export class Run {
  readonly id: string;
  readonly scenario: Scenario;
  /** Opens nothing anywhere. */
  readonly apiKey: string;
  readonly port = lastingPort();

  /** What the default answers serve. */
  flags: Flags = { a: { enabled: true, value: 1 }, b: { enabled: true, value: 'text' } };
  /** `undefined` for a server that does not number its maps. */
  revision: number | undefined = 1;
  /** Whether it sends changes to clients that ask for them; an older server does not. */
  knowsChanges = true;
  /** Headers of every default answer. */
  headers: Readonly<Record<string, string>> = {};
  onStream: Answer = serveStream;
  onRest: Answer = serveRest;
  onUsage: Answer = (exchange) => exchange.answer(204, '');
  /** Most requests that count as a client with pauses. */
  maxRequests = MAX_REQUESTS;

  /** How many connections another host got, to which this server redirects. */
  foreignConnections = 0;
  readonly requests: SeenRequest[] = [];
  /** Exchanges of streams, as they were asked for; some may have ended. */
  readonly streams: Exchange[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #watchers = new Set<() => void>();
  readonly #timers = new Set<Timer>();
  #server: Server | undefined;
  #foreign: Server | undefined;

  constructor(id: string, scenario: Scenario) {
    this.id = id;
    this.scenario = scenario;
    this.apiKey = `proj_live_${id.replaceAll('-', '')}ContractCanary`;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Connections that stand. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Streams that are open. */
  get openStreams(): readonly Exchange[] {
    return this.streams.filter(({ isOpen }) => isOpen);
  }

  /** The stream that was asked for last. */
  get stream(): Exchange {
    const last = this.streams.at(-1);
    if (!last) throw new Error('no stream was asked for');
    return last;
  }

  /** How many requests for a path came. */
  count(path: string): number {
    return this.requests.filter((request) => request.path === path).length;
  }

  /** Listens. Further calls do nothing. */
  async up(): Promise<void> {
    if (this.#server) return;
    const server = createServer((socket) => this.#accept(socket));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
  }

  /** Stops listening and cuts every connection: new ones are refused. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  /** Starts another host, which must stay alone. Gives its address. */
  async openForeign(): Promise<string> {
    const server = createServer((socket) => {
      this.foreignConnections++;
      socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    });
    this.#foreign = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
  }

  /** Ends everything. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#foreign?.close();
    await this.down();
  }

  /** Serves new flags, and sends them to every open stream as the next revision. */
  publish(flags: Flags): void {
    this.flags = flags;
    if (this.revision !== undefined) this.revision++;
    for (const stream of this.openStreams) sendMap(stream, this);
  }

  /** Does something at intervals until the run is closed. */
  every(ms: number, work: () => void): void {
    this.#timers.add(setInterval(work, ms));
  }

  /** Waits for something; rejects with its name when it does not happen in `ms`. */
  async until(what: string, isSo: () => boolean, ms = 8_000): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = () => {
      if (isSo()) resolve();
    };
    const late = setTimeout(() => reject(new Error(`it did not happen: ${what}`)), ms);
    const beat = setInterval(look, 20); // time may pass for it, too
    this.#watchers.add(look);
    look();
    await promise.finally(() => {
      clearTimeout(late);
      clearInterval(beat);
      this.#watchers.delete(look);
    });
  }

  /** Everything that is wrong with what the client did. */
  async judge(): Promise<readonly string[]> {
    const problems: string[] = [];
    const isClosed = this.scenario.steps.some((step) => step.do === 'close');
    if (isClosed) {
      await Bun.sleep(SILENCE_MS); // what was sent before close() may still be on its way
      await this.until('every connection ends', () => this.connections === 0, CLOSE_MS).catch(() => {
        problems.push(`${this.connections} connections are open after close()`);
      });
      const before = this.requests.length;
      await Bun.sleep(SILENCE_MS);
      if (this.requests.length > before) problems.push('the client asks after close()');
    }

    if (this.requests.length > this.maxRequests)
      problems.push(`${this.requests.length} requests: the client asks without pause`);
    for (const { target, path, headers, query } of this.requests) {
      if (target.includes(this.apiKey)) problems.push('the key is in an address');
      for (const [name, value] of headers)
        if (name !== 'x-service-key' && value.includes(this.apiKey)) problems.push(`the key is in ${name}`);
      if (path.startsWith('/v1/') && query.get('env') !== ENVIRONMENT) problems.push(`${target} has no env`);
    }
    return [...problems, ...((await this.scenario.judge?.(this)) ?? [])];
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    let bytes = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('error', () => {}); // clients go as they like
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#notify();
    });
    socket.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      const request = readRequest(bytes, performance.now());
      if (!request) return;
      bytes = Buffer.alloc(0);
      this.#answer(new Exchange(request, socket));
    });
  }

  #answer(exchange: Exchange): void {
    const { request } = exchange;
    this.requests.push(request);
    const answers: Readonly<Record<string, Answer>> = {
      '/v1/stream': this.onStream,
      '/v1/flags': this.onRest,
      '/usage/v1': this.onUsage,
    };
    if (request.path === '/v1/stream') this.streams.push(exchange);

    const answer = answers[request.path];
    if (answer) void this.#give(answer, exchange);
    else exchange.refuse(404, 'not_found');
    this.#notify();
  }

  /** Lets an answer be given. One that waits for what does not happen ends its connection, not the server. */
  async #give(answer: Answer, exchange: Exchange): Promise<void> {
    try {
      await answer(exchange, this);
    } catch {
      exchange.cut();
    }
  }

  #notify(): void {
    for (const look of this.#watchers) look();
  }
}
