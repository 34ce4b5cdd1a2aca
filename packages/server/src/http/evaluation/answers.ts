import { REQUEST_ID_HEADER, REVISION_HEADER, SERVICE_KEY_HEADER, STALE_HEADER } from '@halyard/protocol';
import type { LiveEnvironment } from '../../catalog/live-environment.ts';
import {
  ENCODINGS,
  type Encoding,
  MIN_COMPRESSED_BYTES,
  type Representation,
} from '../../catalog/representation.ts';

/** What each answer of the evaluation interface says of itself. */
export interface AnswerFacts {
  readonly revision: number;
  readonly requestId: string;
  readonly staleSeconds: number | undefined;
}

const VARY_WHOLE = `${SERVICE_KEY_HEADER}, Accept-Encoding`;

/** Answers with a representation, or 304 where the caller already has it. */
export function representationAnswer(
  request: Request,
  representation: Representation,
  facts: AnswerFacts,
): Response {
  const headers = readHeaders(facts);
  headers.ETag = representation.etag;
  const known = request.headers.get('If-None-Match');
  if (known !== null && matches(known, representation.etag))
    return new Response(null, { status: 304, headers });
  return bodyAnswer(representation.bytes, headers);
}

/** Answers with the whole map of an environment, compressed where the caller takes it and it pays. */
export function wholeMapAnswer(request: Request, environment: LiveEnvironment, facts: AnswerFacts): Response {
  const plain = environment.whole();
  const encoding = plain.bytes.length < MIN_COMPRESSED_BYTES ? undefined : chooseEncoding(request);
  const chosen = encoding === undefined ? plain : environment.wholeCompressed(encoding);
  const headers = readHeaders(facts);
  headers.ETag = chosen.etag;
  headers.Vary = VARY_WHOLE;
  const known = request.headers.get('If-None-Match');
  if (known !== null && matches(known, chosen.etag)) return new Response(null, { status: 304, headers });
  if (encoding !== undefined) headers['Content-Encoding'] = encoding;
  return bodyAnswer(chosen.bytes, headers);
}

/** Answers with a body that has no validator of its own. */
export function jsonAnswer(body: string, facts: AnswerFacts): Response {
  return bodyAnswer(body, readHeaders(facts));
}

/** Answers with an event stream. (Spec: Events 1; the headers keep proxies from buffering it) */
export function streamAnswer(stream: ReadableStream<Uint8Array>, facts: AnswerFacts): Response {
  return new Response(stream, {
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
      [REVISION_HEADER]: String(facts.revision),
      [REQUEST_ID_HEADER]: facts.requestId,
    },
  });
}

/** Whether an `If-None-Match` header names this entity tag. Comparison is weak, as the standard asks. */
export function matches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** The best offered coding that an `Accept-Encoding` header takes. */
export function chooseEncoding(request: Request): Encoding | undefined {
  const header = request.headers.get('Accept-Encoding');
  if (header === null) return undefined;
  const qualities = new Map(
    header.split(',').map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name, quality === undefined ? 1 : Number(quality)];
    }),
  );
  return ENCODINGS.find((encoding) => (qualities.get(encoding) ?? qualities.get('*') ?? 0) > 0);
}

function bodyAnswer(body: Uint8Array | string, headers: Record<string, string>): Response {
  headers['Content-Type'] = 'application/json';
  // `BodyInit` knows only bytes on unshared memory; ours are.
  return new Response(body as Uint8Array<ArrayBuffer> | string, { headers });
}

function readHeaders(facts: AnswerFacts): Record<string, string> {
  const headers: Record<string, string> = {
    'Cache-Control': 'private, no-cache',
    Vary: SERVICE_KEY_HEADER,
    [REVISION_HEADER]: String(facts.revision),
    [REQUEST_ID_HEADER]: facts.requestId,
  };
  if (facts.staleSeconds !== undefined) headers[STALE_HEADER] = String(facts.staleSeconds);
  return headers;
}
