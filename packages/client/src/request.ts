import { KEEP_ALIVE_SECONDS, USAGE_HEADER } from '@halyard/protocol';
import { onAbort } from './abort.ts';
import { type FlagErrorCode, FlagsError } from './errors.ts';
import type { Target } from './target.ts';

/**
 * Sends a GET and gives the answer when its status is 200, or 304 for an `etag`. Throws a `FlagsError` otherwise, also when no answer
 * comes in time or the controller is aborted.
 */
export async function send(
  target: Target,
  path: string,
  controller: AbortController,
  etag?: string | null,
): Promise<Response> {
  const { platform, baseUrl, environment, requestTimeoutMs } = target;
  const { signal } = controller;
  const cancel = platform.setTimer(
    () => controller.abort(new FlagsError('timeout', 'no answer in time')),
    requestTimeoutMs,
  );
  try {
    const headers = new Headers(target.headers);
    headers.set('Accept', path.startsWith('s') ? 'text/event-stream' : 'application/json');
    if (etag) headers.set('If-None-Match', etag);
    // They do not send it for `no-store`, as others do, and a proxy may answer.
    if ('Bun' in globalThis || 'Deno' in globalThis) headers.set('Cache-Control', 'no-cache');

    const response = await abortable(
      platform.fetch(`${baseUrl}/v1/${path}env=${encodeURIComponent(environment)}`, {
        headers,
        signal,
        // Never follow a redirect (the key would go with it): it is an answer like any other that is not 200.
        redirect: 'manual',
        // Never read a cache. Cloudflare's runtime, which this class gives away, has none and refuses the setting.
        ...(!('WebSocketPair' in globalThis) && { cache: 'no-store' }),
      }),
      signal,
    );

    if (response.status === 200 || (etag && response.status === 304)) {
      reportUsage(target, response.headers.get(USAGE_HEADER));
      return response;
    }

    // The body only explains; an unreadable one leaves the status to speak.
    const body = await readJson(target, response, controller).catch(() => {});
    const { describeRefusal } = await import('./refusal.ts');
    throw new FlagsError(...describeRefusal(target, response, body));
  } finally {
    cancel();
  }
}

/** Starts counting reads if the server asks for reports, `seconds` apart, and loads the module that sends them. */
export function reportUsage(target: Target, seconds: string | null): void {
  if (!seconds) return;
  target.counts ??= new Map();
  target.lastReport = import('./usage.ts').then(({ hear }) => hear(target, seconds)).catch(() => {});
}

/** A revision from a header or a change, if it is one. */
export function readRevision(given: unknown): number | undefined {
  const text = String(given);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/**
 * Reads a body to its end and hands its text, as it comes, to what `start` gives; `start` gets a function to call for
 * each sign of life. Throws when the body breaks, falls silent or the controller is aborted.
 */
export async function readBody(
  { platform }: Target,
  response: Response,
  controller: AbortController,
  start: (alive: () => void) => (text: string) => void,
): Promise<void> {
  /** So many bytes are a sign of life in the middle of a frame; single bytes are not. */
  const LIVELY_BYTES = 1_024;
  const reader = response.body?.getReader?.();
  const decoder = new TextDecoder(); // drops the one byte order mark that may be there
  let cancel: (() => void) | undefined;
  let bytes = 0;
  const alive = () => {
    bytes = 0;
    cancel?.();
    cancel = platform.setTimer(
      () => controller.abort(new FlagsError('timeout', 'it fell silent')),
      3 * KEEP_ALIVE_SECONDS * 1_000,
    );
  };

  const take = start(alive);
  alive();
  try {
    // Some runtimes, as React Native, give bodies only as a whole.
    if (!reader) return take(await abortable(response.text(), controller.signal));
    for (;;) {
      const piece = await abortable(reader.read(), controller.signal);
      if (piece.done) return;
      bytes += piece.value.length;
      if (bytes >= LIVELY_BYTES) alive();
      take(decoder.decode(piece.value, { stream: true }));
    }
  } finally {
    cancel?.();
    // The rest is not read. A body that has failed cannot be canceled, and need not be.
    reader?.cancel().catch(() => {});
  }
}

/** The JSON of an answer. Throws `invalid_response` when it is not JSON or has no end. */
export async function readJson(
  target: Target,
  response: Response,
  controller: AbortController,
): Promise<unknown> {
  let text = '';
  await readBody(target, response, controller, () => (piece) => {
    text += piece;
    refuseEndless(text.length);
  });
  return parseJson(text);
}

/** Throws `invalid_response` when so many characters have come that there is no end in sight. */
export function refuseEndless(length: number): void {
  /** Greatest size of a frame or an answer, in characters: a guard against what has no end. */
  const MAX_TEXT_LENGTH = 32 * 1024 * 1024;
  if (length > MAX_TEXT_LENGTH) throw new FlagsError('invalid_response', 'it has no end');
}

/** Like `JSON.parse`, but throws `invalid_response`, without quoting what came. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own error quotes the text, which may hold anything.
    throw new FlagsError('invalid_response', 'it is not JSON');
  }
}

/**
 * Whatever was thrown, as an error that holds no key; `code` says what it is, unless it says so itself. Foreign code may
 * throw what throws when it is read.
 */
export function toSafeError({ redact, baseUrl }: Target, thrown: unknown, code: FlagErrorCode): FlagsError {
  try {
    if (thrown instanceof FlagsError) return thrown;
    if (thrown instanceof Error) {
      // Node says only "fetch failed"; the reason is the code of its cause, as ECONNREFUSED.
      const { code: reason = thrown.name } = (thrown.cause ?? thrown) as { readonly code?: unknown };
      const [message, name, inner] = [thrown.message, thrown.name, reason].map((text) => redact(`${text}`));
      // Not the error itself: those that wrap `fetch` carry the request, and with it the key.
      const cause = Object.assign(new Error(message), { name, code: inner });
      return new FlagsError(code, `${message} (${inner}) ${baseUrl}`, { cause });
    }
  } catch {
    // Nothing more can be said about it.
  }
  return new FlagsError(code, 'the request failed');
}

/** The work's result, or a rejection as soon as the signal is aborted: work that ignores it holds up no caller. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject).finally(onAbort(signal, () => reject(signal.reason)));
  });
}
