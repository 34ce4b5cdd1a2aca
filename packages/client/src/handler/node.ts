import { MAX_OFREP_BYTES } from '@halyard/protocol';
import type { FlagsHandler } from './handler.ts';

/** The part of a request of Node, Express or Connect that is used. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Express keeps the whole path here when the handler is mounted below one. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What a body parser, as `express.json()`, has made of the body, which it has read then. */
  readonly body?: unknown;
  on?(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on?(event: 'end' | 'error' | 'close', listener: () => void): unknown;
  /** Stops reading the body. */
  pause?(): unknown;
  /** The connection, which all requests that came on it share. */
  readonly socket?: NodeSocket | undefined;
}

/** The part of a connection of Node that is used. */
export interface NodeSocket {
  readonly destroyed?: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/** The part of a response of Node, Express or Connect that is used. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(chunk: Uint8Array): boolean;
  end(): unknown;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'close', listener: () => void): unknown;
  readonly destroyed?: boolean;
}

/**
 * Turns a handler into a listener for `http.createServer`, Express and Connect.
 *
 * @example
 * ```ts
 * app.use('/flags', toNodeListener(handler));
 * ```
 */
export function toNodeListener(
  handler: FlagsHandler,
): (request: NodeRequest, response: NodeResponse) => void {
  return (incoming, outgoing) => {
    serve(handler, incoming, outgoing).catch(() => outgoing.end()); // the connection is gone or beyond repair
  };
}

async function serve(handler: FlagsHandler, incoming: NodeRequest, outgoing: NodeResponse): Promise<void> {
  const leaving = new AbortController();
  const { signal } = leaving;
  if (outgoing.destroyed || incoming.socket?.destroyed) leaving.abort();
  // Before the answer is there: it may take its time, and a stream without a reader would be kept forever.
  outgoing.once('close', () => leaving.abort());
  const stopWaiting = onClose(incoming.socket, () => leaving.abort());

  const request = toRequest(incoming, incoming.method === 'POST' ? await bodyOf(incoming) : undefined);
  const response = request ? await handler(request) : malformed();
  const reader = response.body?.getReader();
  const drop = () => {
    reader?.cancel().catch(() => {}); // it has ended by itself
  };
  signal.addEventListener('abort', drop);
  try {
    if (signal.aborted) return;
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) break;
      if (!outgoing.write(piece.value)) await drained(outgoing, signal);
    }
    outgoing.end();
  } finally {
    drop();
    stopWaiting();
  }
}

/** Callbacks for the end of a connection; they share one listener, as there may be many. */
const waiting = new WeakMap<NodeSocket, Set<() => void>>();

/**
 * Calls `callback` when the connection ends. Until Node 26, an answer that waits behind another one on its connection
 * does not learn of it. Returns the function that stops waiting.
 */
function onClose(socket: NodeSocket | undefined, callback: () => void): () => void {
  if (!socket) return () => {};
  const callbacks = waiting.get(socket) ?? new Set();
  if (!waiting.has(socket)) {
    waiting.set(socket, callbacks);
    socket.once('close', () => {
      for (const each of callbacks) each();
    });
  }
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}

/** The request as the handler takes it; `undefined` when its target is no address, or its method is one of proxies. */
function toRequest(
  { method = 'GET', url = '/', originalUrl, headers }: NodeRequest,
  body: Uint8Array<ArrayBuffer> | string | undefined,
): Request | undefined {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name.startsWith(':')
      ? []
      : [[name, typeof value === 'string' ? value : value.join(', ')]],
  );
  try {
    // The host plays no part in the answer, and a forged one could be no URL. Two slashes do not begin a host.
    const target = (originalUrl ?? url).replace(/^\/+/, 'http://localhost/');
    return new Request(new URL(target).href, {
      method,
      headers: entries,
      ...(body !== undefined && { body }),
    });
  } catch {
    // Refused by the caller; what was wrong is not for strangers.
    return undefined;
  }
}

/** The body, up to just more than the handler takes: what parsers made of it, or the bytes themselves. */
async function bodyOf(incoming: NodeRequest): Promise<Uint8Array<ArrayBuffer> | string> {
  const { body } = incoming;
  if (typeof body === 'string') return body;
  if (body !== undefined) return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
  const chunks: Uint8Array[] = [];
  let size = 0;
  await new Promise<void>((resolve) => {
    incoming.on?.('data', (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= MAX_OFREP_BYTES) return;
      incoming.pause?.(); // the rest is dropped when the answer has been sent
      resolve();
    });
    for (const event of ['end', 'error', 'close'] as const) incoming.on?.(event, resolve);
    if (!incoming.on) resolve();
  });
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function malformed(): Response {
  const body = { error: 'invalid_argument', message: 'the request cannot be understood' };
  return Response.json(body, { status: 400, headers: { 'Cache-Control': 'no-store' } });
}

/** Resolves when the reader has caught up or gone. */
async function drained(outgoing: NodeResponse, { aborted }: AbortSignal): Promise<void> {
  if (aborted) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.once('drain', done);
    outgoing.once('close', done);
  });
}
