import { REVISION_HEADER } from '@halyard/protocol';
import { abortable } from './abort.ts';
import { parseRetryAfter } from './backoff.ts';
import { type FlagErrorCode, FlagsError, toFlagsError } from './errors.ts';
import { isRecord } from './flags.ts';
import type { Target } from './target.ts';

/** Greatest size of an answer or a frame, in bytes: a guard against answers without an end. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** One request of a connection. */
export interface Request {
  /** Path below the base address, as `/v1/flags`. */
  readonly path: string;
  readonly accept: string;
  /** Gives up on its own when no answer comes in time. */
  readonly controller: AbortController;
  readonly etag?: string | undefined;
}

/** Codes by status, for answers whose body does not name one. A 404 from anybody else proves nothing. */
const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'invalid_argument',
  401: 'invalid_api_key',
  429: 'rate_limited',
};

/**
 * Sends a GET and gives the answer when its status is 200 or 304. Throws a `FlagsError` otherwise; one that says
 * `retryable: false` is a refusal, which only a person can undo.
 */
export async function send(target: Target, request: Request): Promise<Response> {
  const { platform, environment } = target;
  const { path, accept, controller, etag } = request;
  const cancel = platform.setTimer(
    () => controller.abort(new FlagsError('timeout', `no answer to GET ${path} in time`)),
    target.requestTimeoutMs,
  );
  try {
    const headers = new Headers(target.headers.map(([name, value]) => [name, value]));
    headers.set('Accept', accept);
    if (etag) headers.set('If-None-Match', etag);
    const url = `${target.baseUrl}${path}?env=${encodeURIComponent(environment)}`;
    const init = { headers, signal: controller.signal, ...CONFINED() };
    const response = await abortable(platform.fetch(url, init), controller.signal);
    if (response.status === 200 || response.status === 304) return response;
    throw await refusalOf(target, response, controller.signal);
  } catch (thrown) {
    throw toSafeError(target, thrown, `GET ${path} failed`);
  } finally {
    cancel();
  }
}

/**
 * Never follow a redirect (the key would go with it), never read a cache. Cloudflare's runtime knows neither setting;
 * there, a redirect is handed to us and is an answer like any other that is not 200.
 */
function CONFINED(): RequestInit {
  return globalThis.navigator?.userAgent === 'Cloudflare-Workers'
    ? { redirect: 'manual' }
    : { redirect: 'error', cache: 'no-store' };
}

/** The revision an answer says it was made from. */
export function revisionOf(response: Response): number | undefined {
  const text = response.headers.get(REVISION_HEADER);
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The pieces of an answer's body as they come. */
export async function* piecesOf(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const piece = reader && (await abortable(reader.read(), signal));
      if (!piece || piece.done) return;
      yield piece.value;
    }
  } finally {
    // Nobody reads the rest. A body that has failed refuses to be cancelled, which is as good.
    reader?.cancel().catch(() => {});
  }
}

/** The JSON of an answer. Throws `invalid_response` when it is none or has no end. */
export async function readJson(response: Response, signal: AbortSignal): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const piece of piecesOf(response, signal)) {
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES) throw new FlagsError('invalid_response', 'the answer is too large');
    text += decoder.decode(piece, { stream: true });
  }
  return parseJson(text + decoder.decode());
}

/** Like `JSON.parse`, but throws `invalid_response`, without quoting what came. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own error quotes the text, which may hold anything.
    throw new FlagsError('invalid_response', 'what came is not JSON');
  }
}

/** Whatever was thrown as an error that holds no key. `what` names the work, `code` the failure unless it says better. */
export function toSafeError(
  target: Target,
  thrown: unknown,
  what: string,
  code: FlagErrorCode = 'network_error',
): FlagsError {
  if (thrown instanceof FlagsError) return thrown;
  const { message, stack } = thrown instanceof Error ? thrown : { message: String(thrown), stack: '' };
  const text = `${message}${stack}`;
  const isClean = target.redact(text) === text;
  return toFlagsError(isClean ? thrown : undefined, code, target.redact(`${what}: ${message}`));
}

async function refusalOf(target: Target, response: Response, signal: AbortSignal): Promise<FlagsError> {
  const { status, headers } = response;
  // The body only explains; an unreadable one leaves the status to speak.
  const body = await readJson(response, signal).catch(() => undefined);
  const { error, message, docs } = isRecord(body) ? body : {};
  const isNamed = typeof error === 'string' && /^[a-z_]{1,64}$/.test(error);
  const code = isNamed
    ? error
    : (CODE_OF_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'invalid_response'));
  const text = typeof message === 'string' ? message.slice(0, 500) : `the server answered ${status}`;
  return new FlagsError(code, target.redact(text), {
    status,
    docs: typeof docs === 'string' ? target.redact(docs.slice(0, 500)) : undefined,
    retryInMs: parseRetryAfter(headers.get('Retry-After'), target.platform.wallClock()),
  });
}

/** Whether only a person can undo the cause: a key or an environment the service does not know. */
export function isRefusal(error: FlagsError): boolean {
  return error.status === 401 || (error.status === 404 && error.code !== 'invalid_response');
}
