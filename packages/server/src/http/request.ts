import { REQUEST_ID_HEADER } from '@halyard/protocol';
import { ServiceError } from '../domain/errors.ts';

/** Seconds a connection may be silent, dripping headers or a body included. Streams are exempt. */
export const IDLE_SECONDS = 10;

/**
 * How long a client may take nothing of a long answer, in milliseconds. The kernel keeps megabytes of it, and says only after
 * about a third of them that some were taken: at 1 Mbit/s that is more than ten seconds.
 */
export const UNREAD_MS = 60_000;

const ACCEPTABLE_ID = /^[A-Za-z0-9._:-]{1,64}$/;
const PROCESS = crypto.randomUUID().slice(0, 8);
let count = 0;

/** The request's own id if it sent an acceptable one, otherwise a new one that is unique among all nodes. */
export function requestIdOf(request: Request): string {
  const sent = request.headers.get(REQUEST_ID_HEADER);
  return sent !== null && ACCEPTABLE_ID.test(sent) ? sent : `${PROCESS}-${(++count).toString(36)}`;
}

/**
 * Whether the request names one host, and one that an address can have; HTTP/1.0 need not name any. Bun takes the first of two
 * `Host` fields for `url`, and joins them in `headers`. (RFC 9112, 3.2; docs/decisions/0014-http-parser.md)
 */
export function namesOneHost({ url, headers }: Request): boolean {
  return URL.canParse(url) && headers.get('Host')?.includes(', ') !== true;
}

/** The path of a request that {@link namesOneHost}. Bun writes `url` as `URL` does, so it need not be parsed again. */
export function pathOf({ url }: Request): string {
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2));
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

/** The query of a request without its `?`, whatever its `Host` is. */
export function queryTextOf({ url }: Request): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

/** The parameters of {@link queryTextOf}. */
export function queryOf(request: Request): URLSearchParams {
  return new URLSearchParams(queryTextOf(request));
}

/** The one of the `offered` content codings that the request's `Accept-Encoding` prefers; of equal ones, the first. */
export function chooseCoding<Coding extends string>(
  request: Request,
  offered: readonly Coding[],
): Coding | undefined {
  const header = request.headers.get('Accept-Encoding');
  if (header === null) return undefined;
  const qualities = new Map(
    header.split(',').map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name, quality === undefined ? 1 : Number(quality)];
    }),
  );
  const qualityOf = (coding: Coding) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  return offered
    .filter((coding) => qualityOf(coding) > 0)
    .sort((a, b) => qualityOf(b) - qualityOf(a))
    .at(0);
}

/** The token in the value of an `Authorization` header; `undefined` where it is not a bearer token. */
export function bearerTokenIn(authorization: string | null | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** Whether an `If-None-Match` header names this entity tag. The comparison is weak: proxies that compress weaken a tag. */
export function matchesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** Keeps nothing between two bodies, so all can share it. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** How a body is watched while it arrives. */
export interface BodyWatch {
  /** How long no byte may come, in milliseconds. A small body has this long as a whole. */
  readonly silenceMs: number;
  /** Longest all of it may take, in milliseconds; absent for no limit. */
  readonly wholeMs?: number;
  /** Called with the size of each piece of a body whose length was not announced, before it is kept. May throw. */
  readonly onPiece: (bytes: number) => void;
  /** Called when some of the body has yet to come, or may have. */
  readonly onWait?: () => void;
}

/**
 * Reads a request's body as UTF-8 text, and counts while it arrives. `invalid_argument` for more than `maxBytes`, for
 * bytes that are not UTF-8, and for a body that breaks off. No async function: reads by OFREP wait for it.
 */
export function readBody(request: Request, maxBytes: number): Promise<string> {
  return takeBytes(request, maxBytes).then(decodeBody, refuseBroken);
}

/** As {@link readBody}, without looking at the bytes. */
export function readBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  return takeBytes(request, maxBytes).catch(refuseBroken);
}

/** As {@link readBytes}, with limits of its own on the way. */
export function readWatched(
  request: Request,
  maxBytes: number,
  watch: BodyWatch,
): Promise<Uint8Array<ArrayBuffer>> {
  return takeWatched(request, maxBytes, watch).catch(refuseBroken);
}

/** The length that the request announces; `undefined` for a body in chunks. */
export function announcedLength({ headers }: Request): number | undefined {
  const announced = headers.get('Content-Length');
  return announced === null ? undefined : Number(announced);
}

/** Announced bodies up to this size are read in one piece, in bytes. */
const ONE_PIECE_BYTES = 64 * 1024;

async function takeWatched(
  request: Request,
  maxBytes: number,
  { silenceMs, wholeMs = Number.POSITIVE_INFINITY, onPiece, onWait }: BodyWatch,
): Promise<Uint8Array<ArrayBuffer>> {
  const begunAt = performance.now();
  const length = announcedLength(request);
  if (length !== undefined && length <= Math.min(ONE_PIECE_BYTES, maxBytes)) {
    const bytes = takeBytes(request, maxBytes);
    // Most have come with their head: no timer for those.
    if (Bun.peek.status(bytes) === 'fulfilled') return bytes;
    onWait?.();
    return notSilent(bytes, silenceMs);
  }
  onWait?.();

  const reader = request.body?.getReader();
  const pieces = {
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const leftMs = Math.min(silenceMs, begunAt + wholeMs - performance.now());
        const piece = await (reader && notSilent(reader.read(), leftMs));
        if (piece === undefined || piece.done) return;
        if (length === undefined) onPiece(piece.value.length);
        yield piece.value;
      }
    },
  };

  try {
    return await gather(pieces, maxBytes);
  } catch (error) {
    void reader?.cancel().catch(() => {});
    throw error;
  }
}

/** Rejects when `work` takes longer than this, in milliseconds. */
async function notSilent<T>(work: Promise<T>, silenceMs: number): Promise<T> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => silence.reject(new Error('the body stopped coming')), silenceMs);
  try {
    return await Promise.race([work, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function takeBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = request.headers.get('Content-Length');
  // The parser keeps a body to the length that was announced. Such a body comes in one piece, for a third of the time.
  const isSmall = announced !== null && Number(announced) <= maxBytes;
  // `ArrayBuffer`: bodies are never in shared memory.
  return isSmall
    ? (request.bytes() as Promise<Uint8Array<ArrayBuffer>>)
    : gather(request.body ?? [], maxBytes);
}

async function gather(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of pieces) {
    size += chunk.length;
    if (size > maxBytes) throw invalidBody(`The body is larger than ${maxBytes} bytes: send less at once.`);
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** The text of a body; `invalid_argument` where it is not UTF-8. */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch (cause) {
    throw invalidBody('The body is not valid UTF-8: send JSON in UTF-8.', cause);
  }
}

/** The caller disconnected or was too slow, which is nothing for the error log. */
function refuseBroken(cause: unknown): never {
  throw cause instanceof ServiceError ? cause : bodyBroken(cause);
}

/** Refuses a body of which the end did not come, or not in time. */
export function bodyBroken(cause: unknown): ServiceError {
  return invalidBody('The body broke off before its end: send all of it.', cause);
}

function invalidBody(message: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid_argument', message, { cause });
}
