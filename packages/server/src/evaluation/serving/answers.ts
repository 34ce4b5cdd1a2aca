import { REQUEST_ID_HEADER, REVISION_HEADER, STALE_HEADER } from '@halyard/protocol';
import { ENCODINGS, MIN_COMPRESSED_BYTES } from '../../http/compression.ts';
import { STREAM_FIELDS } from '../../http/event-stream.ts';
import { chooseCoding, matchesTag } from '../../http/request.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import { type Representation, readHeaders } from '../catalog/representation.ts';

/** The facts in the header of each answer of the evaluation interface. */
export interface AnswerFacts {
  readonly requestId: string;
  readonly staleSeconds: number | undefined;
}

/** Answers with a representation, or 304 where the caller already has it. */
export function representationAnswer(
  request: Request,
  representation: Representation,
  facts: AnswerFacts,
): Response {
  const known = request.headers.get('If-None-Match');
  if (known !== null && matchesTag(known, representation.etag))
    return notModified(representation.headers, facts);
  const headers = withFacts(representation.headers, facts);
  return new Response(bodyOf(representation.bytes), { headers });
}

/** Answers that the caller has the representation with these header fields already. */
export function notModified(shared: Headers, facts: AnswerFacts): Response {
  return new Response(null, { status: 304, headers: withFacts(shared, facts) });
}

/** Answers with the whole map of an environment, compressed where the caller takes it, it pays, and it is made. */
export function wholeMapAnswer(request: Request, environment: LiveEnvironment, facts: AnswerFacts): Response {
  const plain = environment.whole();
  const encoding = plain.bytes.length < MIN_COMPRESSED_BYTES ? undefined : chooseCoding(request, ENCODINGS);
  const form = encoding && environment.wholeCompressed(encoding);
  return representationAnswer(request, form ?? plain, facts);
}

/** Answers with a body that has no validator of its own. */
export function jsonAnswer(body: string, environment: LiveEnvironment, facts: AnswerFacts): Response {
  const headers = environment.announce(readHeaders(environment.revision));
  return new Response(body, { headers: withFacts(headers, facts) });
}

/** Answers with an event stream. (Spec: S6.1; the headers keep proxies from buffering it) */
export function streamAnswer(
  stream: ReadableStream<Uint8Array>,
  revision: number,
  facts: AnswerFacts,
): Response {
  return new Response(stream, {
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      ...STREAM_FIELDS,
      [REVISION_HEADER]: String(revision),
      [REQUEST_ID_HEADER]: facts.requestId,
    },
  });
}

/**
 * Adds this answer's own fields to the shared ones. `Response` copies them, and nothing else runs in between, so the
 * next answer may overwrite the id: half a microsecond cheaper than a copy of our own.
 */
export function withFacts(shared: Headers, facts: AnswerFacts): Headers {
  shared.set(REQUEST_ID_HEADER, facts.requestId);
  if (facts.staleSeconds === undefined) return shared;
  const headers = new Headers(shared);
  headers.set(STALE_HEADER, String(facts.staleSeconds));
  return headers;
}

/** `BodyInit` knows only bytes on unshared memory; ours are, as this process made them. */
function bodyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}
