import type { Server } from 'bun';
import type { Logger } from 'pino';
import { temporaryError } from '../domain/errors.ts';
import { isSameSecret } from '../domain/secret.ts';
import { errorResponse, notFound } from './errors.ts';
import { UNBUFFERED_FIELD } from './event-stream.ts';
import { bodyBroken, IDLE_SECONDS, requestIdOf, UNREAD_MS } from './request.ts';

/** Where one process of a machine passes requests to another. */
export interface InnerAddress {
  /** Name of a Unix socket; one that begins with NUL is not in the file system and needs no folder. */
  readonly socket: string;
  /** Proves that a request comes from a process of the same node: every user of the machine can open the socket. */
  readonly token: string;
}

/** Answers a request, with the server that received it. */
type Answer<R extends Request> = (request: R, server: Server<undefined>) => Response | Promise<Response>;

/** Begins the paths of an inner listener that processes ask for themselves, rather than pass on. */
export const INNER_PATH = '/inner';

/** Proof of {@link InnerAddress.token}, and the address that the client connected from. */
const TOKEN_HEADER = 'X-Halyard-Inner-Token';
const CALLER_HEADER = 'X-Halyard-Inner-Caller';

/** Fields that concern one connection, in either direction (RFC 9110, 7.6.1). `fetch` writes its own. */
const CONNECTION_FIELDS = [
  'Connection',
  'Keep-Alive',
  'Proxy-Authenticate',
  'Proxy-Authorization',
  'Proxy-Connection',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
];

/** The address of a new inner listener. The name is random, so that no other program can take it first. */
export function newInnerAddress(): InnerAddress {
  const token = crypto.getRandomValues(new Uint8Array(32)).toHex();
  return { socket: `\0halyard-${crypto.randomUUID()}`, token };
}

/** Where errors are logged, and the base of the documentation that they link to. */
export interface ForwardContext {
  readonly docsUrl: string;
  readonly log: Logger;
  /** Longest the other process may take to answer, in milliseconds; absent: it decides. */
  readonly answerMs?: number;
  /** Seconds that a body may be silent on its way. */
  readonly idleSeconds?: number;
  /** How long a client may take nothing of an answer that has an end, in milliseconds. */
  readonly silenceMs?: number;
}

/** Answers are handed to clients in pieces of this size, in bytes: how often one is taken shows whether a client still reads. */
const PIECE_BYTES = 64 * 1024;

/**
 * Passes requests on to the process behind an inner address, and its answers back. Bodies and event streams flow with
 * backpressure, and the end of either side ends the other. This process decides how long the client may be silent, because only
 * it sees what the client sends and takes: it reads ahead of it, megabytes of a long answer. The connection of a stream ends with it.
 */
export function forwardTo(
  { socket, token }: InnerAddress,
  { docsUrl, log, answerMs, idleSeconds = IDLE_SECONDS, silenceMs = UNREAD_MS }: ForwardContext,
): Answer<Request> {
  return async (request, server) => {
    const url = urlOf(request);
    if (new URL(url).pathname.startsWith(`${INNER_PATH}/`)) {
      const requestId = requestIdOf(request);
      return errorResponse(notFound(new URL(url).pathname), { docsUrl, log, requestId });
    }

    server.timeout(request, 0);
    const headers = withoutConnectionFields(request.headers);
    headers.delete('Content-Length');
    headers.delete('Expect');
    headers.set(TOKEN_HEADER, token);
    headers.set(CALLER_HEADER, server.requestIP(request)?.address ?? '');
    // Otherwise `fetch` adds its own, and the client gets a coding that it may not know.
    if (!headers.has('User-Agent')) headers.set('User-Agent', '');
    if (!headers.has('Accept-Encoding')) headers.set('Accept-Encoding', 'identity');

    const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
    const body =
      hasBody && request.body !== null ? new WatchedBody(request.body, idleSeconds * 1000) : undefined;

    try {
      const answer = await fetch(url, {
        unix: socket,
        method: request.method,
        headers,
        body: body?.stream ?? null,
        redirect: 'manual',
        decompress: false,
        signal: AbortSignal.any([
          request.signal,
          ...(body === undefined ? [] : [body.stalled]),
          ...(answerMs === undefined ? [] : [AbortSignal.timeout(answerMs)]),
        ]),
        timeout: false,
        // `fetch` repeats a DELETE on its own when a connection that it kept turns out to be closed.
        keepalive: false,
      } as BunFetchRequestInit);

      // An answer may come before the end of a body.
      body?.end();
      const { status } = answer;
      const fields = withoutConnectionFields(answer.headers);
      // Only the body of a stream has no end that is known now: its connection may be silent until then, and ends with it.
      const isStream = answer.body !== null && !answer.headers.has('Content-Length');
      if (isStream) fields.set('Connection', 'close');
      else server.timeout(request, IDLE_SECONDS);

      // A stream without an end has limits of its own, in bytes.
      const isEndless = answer.headers.has(UNBUFFERED_FIELD);
      const passed =
        isStream && answer.body !== null
          ? inPieces(answer.body, log, isEndless ? undefined : silenceMs)
          : answer.body;
      return new Response(passed, { status, headers: fields });
    } catch (cause) {
      body?.end();
      server.timeout(request, IDLE_SECONDS);
      log.debug({ err: cause }, 'a request could not be passed on');

      const refusal = body?.stalled.aborted
        ? bodyBroken(cause)
        : temporaryError('This part of the server is not available at the moment: try again shortly.');

      const response = errorResponse(refusal, { docsUrl, log, requestId: requestIdOf(request) });
      // What is left of a body must not be taken for the next request.
      if (body !== undefined) response.headers.set('Connection', 'close');
      return response;
    }
  };
}

/**
 * A body in small pieces, whose connection is cut where the other process cut its own, or where no piece is taken for
 * `silenceMs`. The runtime would print an error that has a reason.
 */
function inPieces(
  body: ReadableStream<Uint8Array>,
  log: Logger,
  silenceMs: number | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let rest: Uint8Array = new Uint8Array();
  let silence: Timer | undefined;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        clearTimeout(silence);
        try {
          if (rest.length === 0) {
            const { done, value } = await reader.read();
            if (done) return controller.close();
            rest = value;
          }
        } catch (cause) {
          log.debug({ err: cause }, 'an answer that was passed on was cut');
          controller.error();
          return;
        }

        controller.enqueue(rest.subarray(0, PIECE_BYTES));
        rest = rest.subarray(PIECE_BYTES);
        if (silenceMs === undefined) return;
        silence = setTimeout(() => {
          log.debug({ silenceMs }, 'the client of an answer that was passed on took nothing');
          controller.error();
          void reader.cancel().catch(() => {});
        }, silenceMs);
      },
      cancel: (reason) => {
        clearTimeout(silence);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The body of a request on its way to another process. */
class WatchedBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #silenceMs: number;
  readonly #stalled = new AbortController();
  #timer: Timer | undefined;

  constructor(body: ReadableStream<Uint8Array>, silenceMs: number) {
    this.#silenceMs = silenceMs;
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.#listen();
        controller.enqueue(chunk);
      },
      flush: () => this.end(),
    });
    this.stream = body.pipeThrough(watch);
    this.#listen();
  }

  /** Aborted when nothing of it has come for too long. */
  get stalled(): AbortSignal {
    return this.#stalled.signal;
  }

  /** All of it has come, or nothing more of it is wanted. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #listen(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stalled.abort(), this.#silenceMs);
    this.#timer.unref();
  }
}

/** Answers requests that {@link forwardTo} passed on, as if their clients had connected here; refuses all others. */
export function acceptForwarded<R extends Request>({ token }: InnerAddress, answer: Answer<R>): Answer<R> {
  return (request, server) => {
    if (!isSameSecret(request.headers.get(TOKEN_HEADER) ?? '', token)) {
      return new Response('This address is for the processes of one node.\n', { status: 403 });
    }
    return answer(request, serverOf(request, server));
  };
}

/** The server as handlers know it, with the address of the client that another process accepted. */
function serverOf(request: Request, server: Server<undefined>): Server<undefined> {
  const address = request.headers.get(CALLER_HEADER);
  const seen = {
    timeout: (of: Request, seconds: number) => server.timeout(of, seconds),
    requestIP: () => (address ? { address, family: address.includes(':') ? 'IPv6' : 'IPv4', port: 0 } : null),
  };
  // `Server`: handlers use no other member.
  return seen as unknown as Server<undefined>;
}

/** HTTP/1.0 allows a request without a host, whose `url` is only a path: load balancers check health that way. */
function urlOf({ url }: Request): string {
  return URL.canParse(url) ? url : `http://localhost${url.startsWith('/') ? '' : '/'}${url}`;
}

function withoutConnectionFields(headers: Headers): Headers {
  const kept = new Headers(headers);
  const named = kept.get('Connection')?.split(',') ?? [];
  for (const name of [...CONNECTION_FIELDS, ...named.map((each) => each.trim())]) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) kept.delete(name);
  }
  return kept;
}
