import {
  defined,
  evaluateOfrep,
  evaluateOfrepBulk,
  type FlagMap,
  type Json,
  MAX_OFREP_BYTES,
  OFREP_ERROR_STATUS,
  type OfrepErrorCode,
  type OfrepFailure,
  type OfrepSuccess,
  parseOfrepRequest,
} from '@halyard/protocol';

/** Seconds in the background after which a page closes its stream: it would hold one of few connections of its origin. */
const INACTIVITY_SECONDS = 10;

/** The flags that a caller may see, and where they come from. */
export interface OfrepSource {
  readonly environment: string;
  readonly flags: FlagMap;
  readonly revision: number | undefined;
  /** The path at which pages reach the event stream. */
  readonly streamPath: string;
  /** Goes with every answer. */
  readonly headers: Record<string, string>;
}

/** Reads the body of an OFREP request: whom to evaluate for, or the answer that refuses it. */
export async function readOfrepRequest(
  request: Request,
  key: string | undefined,
): Promise<{ readonly targetingKey: string | undefined } | Response> {
  const text = await readText(request, MAX_OFREP_BYTES);
  if (text === undefined)
    return failure(key, 'PARSE_ERROR', `The body is larger than ${MAX_OFREP_BYTES} bytes, or not UTF-8.`);
  const read = parseOfrepRequest(text);
  return read.ok ? read : failure(key, read.errorCode, read.errorDetails);
}

/** Answers a read of one flag. */
export function answerOne(source: OfrepSource, key: string, targetingKey: string | undefined): Response {
  const { environment, headers } = source;
  const state = Object.hasOwn(source.flags, key) ? source.flags[key] : undefined;
  const answer = evaluateOfrep(key, state, { environment, targetingKey });
  const status = isFailure(answer) ? OFREP_ERROR_STATUS[answer.errorCode] : 200;
  return Response.json(answer, { status, headers: { ...headers, 'Cache-Control': 'no-store' } });
}

/** Answers a read of all flags; 304 to a caller who has the same answer already. */
export async function answerAll(
  source: OfrepSource,
  request: Request,
  targetingKey: string | undefined,
): Promise<Response> {
  const { environment, flags, revision, streamPath } = source;
  const eventStreams = [
    { type: 'sse', endpoint: { requestUri: streamPath }, inactivityDelaySec: INACTIVITY_SECONDS },
  ] as const;
  const body = evaluateOfrepBulk(flags, { environment, targetingKey }, { revision, eventStreams });
  return await tagged(request, body, source.headers);
}

/** Answers with JSON and its tag; 304 to a caller who has the same answer already. */
export async function tagged(
  request: Request,
  body: unknown,
  more: Readonly<Record<string, string>>,
): Promise<Response> {
  const text = JSON.stringify(body);
  const tag = await tagOf(text);
  const headers = { ...more, ETag: tag, 'Cache-Control': 'private, no-cache' };
  // Weak comparison: proxies that compress weaken a tag.
  const known = (request.headers.get('If-None-Match') ?? '').split(',').map((each) => each.trim());
  if (known.some((each) => each === '*' || each.replace(/^W\//, '') === tag))
    return new Response(null, { status: 304, headers });
  return new Response(text, { headers: { ...headers, 'Content-Type': 'application/json' } });
}

/** Answers OpenFeature's CLI: each flag with its type, as the service does. A value of `null` has no type. */
export function manifestResponse(flags: FlagMap, headers: Record<string, string>): Response {
  const listed = Object.entries(flags)
    .map(([key, { value = true }]) => ({ key, ...typeOf(value) }))
    .filter(({ type }) => type !== undefined)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return Response.json(
    { flags: listed },
    { headers: { ...headers, 'Cache-Control': 'private, no-cache', 'X-Manifest-Capabilities': 'read' } },
  );
}

/** The type of a value, and what such a flag gives while it is off. */
function typeOf(value: Json): { readonly type?: string; readonly defaultValue?: Json } {
  if (value === null) return {};
  if (typeof value === 'boolean') return { type: 'boolean', defaultValue: false };
  if (typeof value === 'string') return { type: 'string', defaultValue: '' };
  if (typeof value === 'number')
    return { type: Number.isInteger(value) ? 'integer' : 'float', defaultValue: 0 };
  return { type: 'object', defaultValue: Array.isArray(value) ? [] : {} };
}

function isFailure(answer: OfrepSuccess | OfrepFailure): answer is OfrepFailure {
  return 'errorCode' in answer;
}

/** An OFREP refusal: of one flag where `key` is given. */
export function failure(key: string | undefined, errorCode: OfrepErrorCode, errorDetails: string): Response {
  return Response.json(defined({ key, errorCode, errorDetails }), {
    status: OFREP_ERROR_STATUS[errorCode],
    headers: { 'Cache-Control': 'no-store' },
  });
}

/** A tag of the whole answer: what is exposed may differ between releases of the application at the same revision. */
async function tagOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return `"${[...new Uint8Array(digest, 0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}"`;
}

/** A body as text, counted while it arrives; `undefined` when it has more bytes than allowed or is not UTF-8. */
async function readText(request: Request, maxBytes: number): Promise<string | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = request.body?.getReader();
  let text = '';
  let bytes = 0;
  try {
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) return text + decoder.decode();
      bytes += piece.value.byteLength;
      if (bytes > maxBytes) return undefined;
      text += decoder.decode(piece.value, { stream: true });
    }
  } catch {
    // It broke off, or is not UTF-8: the caller's mistake either way.
    return undefined;
  } finally {
    reader?.cancel().catch(() => {}); // it has ended by itself
  }
}
