import { ApiError } from './api-error.ts';

/** Extras of one request. */
interface RequestOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** JSON text to send instead, where its notation must not change. */
  readonly text?: string | undefined;
  /** The revision that the writer has seen: `If-Match`. `none` means that nothing may be there yet. */
  readonly seen?: number | 'none' | undefined;
  /** The protected environment that the person has confirmed this for. */
  readonly confirmed?: string | readonly string[] | undefined;
  /** Why: goes into the audit log. */
  readonly note?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Listener = () => void;
const signedOutListeners = new Set<Listener>();

/** Calls `listener` whenever the server says that the session has ended. Gives the function that stops it. */
export function onSignedOut(listener: Listener): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

/** Counts the sign-ins of this page. */
let signIns = 0;

/** Somebody has signed in: what an older request is refused with says nothing of the new session. */
export function noteSignIn(): void {
  signIns++;
}

/**
 * Sends one request to the management API with the session's cookie and gives the parsed body; `undefined` for an
 * empty one. Rejects with an {@link ApiError} for any other answer than success, and when none comes.
 *
 * The shape of the answer is the API's contract, which a test holds against its OpenAPI document.
 */
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  return parse(await requestText(method, path, options)) as T;
}

/** The same, with the body's own text: numbers keep their notation, and members their order. */
export async function requestText(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<string> {
  const signInsBefore = signIns;
  const response = await send(method, path, options);
  const text = await response.text();
  if (response.ok) return text;
  const body: unknown = parse(text);
  const error = refusalOf(response, body);
  // Without its cookie a request looks like one that forgot its token. A wrong password is told where it was typed.
  if (error.status === 401 && error.code !== 'sign_in_failed' && signIns === signInsBefore)
    for (const listener of signedOutListeners) listener();
  throw error;
}

/** An address below `/api` with its parts escaped: ``api`projects/${name}/flags` ``. */
export function api(strings: TemplateStringsArray, ...parts: readonly (string | number)[]): string {
  return `/api/${String.raw(strings, ...parts.map((part) => encodeURIComponent(part)))}`;
}

async function send(method: string, path: string, options: RequestOptions): Promise<Response> {
  const { body, signal, text = body === undefined ? undefined : JSON.stringify(body) } = options;
  try {
    return await fetch(path, {
      method,
      headers: headersOf(options),
      credentials: 'same-origin',
      cache: 'no-store',
      ...(text === undefined ? {} : { body: text }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    const message = 'The server cannot be reached. Check the connection and try again.';
    throw new ApiError({ code: 'unreachable', message, status: 0 }, { cause });
  }
}

function headersOf({ body, text, seen, confirmed, note }: RequestOptions): Record<string, string> {
  const names = typeof confirmed === 'string' ? confirmed : confirmed?.join(',');
  return {
    Accept: 'application/json',
    ...(body === undefined && text === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(seen === undefined ? {} : seen === 'none' ? { 'If-None-Match': '*' } : { 'If-Match': `"${seen}"` }),
    ...(names === undefined || names === '' ? {} : { 'X-Confirm-Environment': names }),
    ...(note === undefined || note === '' ? {} : { 'X-Change-Note': toHeader(note) }),
  };
}

/** Header values are bytes: the server reads them as UTF-8. */
function toHeader(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text.replaceAll(/\s+/g, ' ')));
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Not ours: a proxy's page, perhaps. The status says enough.
    return undefined;
  }
}

function refusalOf(response: Response, body: unknown): ApiError {
  const { error, message, docs } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new ApiError({
    code: typeof error === 'string' ? error : 'unknown',
    message: typeof message === 'string' ? message : `The server answered ${response.status}.`,
    status: response.status,
    ...(typeof docs === 'string' ? { docs } : {}),
    ...(Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}),
  });
}
