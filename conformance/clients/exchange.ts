/** One request on a raw socket, and every way of answering it. */
import type { Socket } from 'node:net';

/** A request as it came. */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The whole target, as sent. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** When it came, in milliseconds. */
  readonly at: number;
}

/** The headers of an answer. */
export type Headers = Readonly<Record<string, string>>;

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  302: 'Found',
  304: 'Not Modified',
};

/** A request and its socket. Every answer closes its connection, so that none stays in a client's pool. */
export class Exchange {
  readonly request: SeenRequest;
  /** The map that a stream of changes has brought, once it has brought one. */
  held: { readonly revision: number; readonly flags: Readonly<Record<string, unknown>> } | undefined;
  /** When its connection ended, in milliseconds, once it has. */
  closedAt: number | undefined;
  readonly #socket: Socket;
  #isChunked = false;

  constructor(request: SeenRequest, socket: Socket) {
    this.request = request;
    this.#socket = socket;
    socket.once('close', () => {
      this.closedAt = performance.now();
    });
  }

  /** How long its connection stood, in milliseconds; 0 while it stands. */
  get lifetimeMs(): number {
    return this.closedAt === undefined ? 0 : this.closedAt - this.request.at;
  }

  /** Whether the connection still stands. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  /** Writes bytes as they are, below HTTP. */
  raw(bytes: string | Uint8Array): void {
    if (this.isOpen) this.#socket.write(bytes);
  }

  /** Writes a status line and headers; a body in pieces may follow. */
  head(status: number, headers: Headers = {}): void {
    const lines = Object.entries({ Connection: 'close', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    this.raw(`HTTP/1.1 ${status} ${REASONS[status] ?? 'Answer'}\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  /** Begins an answer whose body comes in chunks, with `write`. */
  chunked(status: number, headers: Headers): void {
    this.#isChunked = true;
    this.head(status, { 'Transfer-Encoding': 'chunked', ...headers });
  }

  /** Writes a piece of the body. */
  write(piece: string | Uint8Array): void {
    const bytes = typeof piece === 'string' ? new TextEncoder().encode(piece) : piece;
    if (bytes.length === 0) return;
    if (this.#isChunked) this.raw(`${bytes.length.toString(16)}\r\n`);
    this.raw(bytes);
    if (this.#isChunked) this.raw('\r\n');
  }

  /** Ends the body in good order. */
  end(): void {
    if (this.#isChunked) this.raw('0\r\n\r\n');
    this.#socket.end();
  }

  /** Answers with a whole body. */
  answer(status: number, body: string, headers: Headers = {}): void {
    const length = String(new TextEncoder().encode(body).length);
    const bare = status === 204 || status === 304;
    this.head(status, { ...(!bare && { 'Content-Length': length }), ...headers });
    if (!bare) this.raw(body);
    this.#socket.end();
  }

  /** Answers with JSON. */
  json(status: number, body: unknown, headers: Headers = {}): void {
    this.answer(status, JSON.stringify(body), { 'Content-Type': 'application/json', ...headers });
  }

  /** Answers with an error as Halyard does. */
  refuse(status: number, error: string, headers: Headers = {}): void {
    this.json(status, { error, message: `A refusal of the contract server: ${error}.` }, headers);
  }

  /** Resets the connection. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Cuts the connection, in the middle of whatever it was. */
  cut(): void {
    this.#socket.destroy();
  }
}

/**
 * Collects bytes of a connection until a request is whole. Gives it, or `undefined` while it is not. Only what HTTP clients
 * send is understood: a body needs a `Content-Length` or chunks.
 */
export function readRequest(bytes: Buffer, at: number): SeenRequest | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;

  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const [method = '', target = ''] = first.split(' ');
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );

  const rest = bytes.subarray(end + 4);
  const body = headers.has('transfer-encoding')
    ? unchunk(rest)
    : wholeBody(rest, Number(headers.get('content-length') ?? 0));
  if (body === undefined) return undefined;

  const url = new URL(target, 'http://contract.invalid');
  return { method, target, path: url.pathname, query: url.searchParams, headers, body, at };
}

function wholeBody(bytes: Buffer, length: number): string | undefined {
  return bytes.length < length ? undefined : bytes.subarray(0, length).toString('utf8');
}

function unchunk(bytes: Buffer): string | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (size === 0) return Buffer.concat(pieces).toString('utf8');
    if (bytes.length < lineEnd + 2 + size + 2) return undefined;
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
