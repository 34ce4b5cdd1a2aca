import { REFERENCE_HEADER } from '@halyard/protocol';
import { createWatchers } from '../browser/watchers.ts';
import { ApiError, isCertain, isRefusal } from './api-error.ts';
import { currentApprovals, type Wish, withWish } from './approvals.ts';
import { errorOfLost, newReference } from './lost-answers.ts';

/** Options of one request. */
interface RequestOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** JSON text to send instead, if its notation must be kept. */
  readonly text?: string | undefined;
  /** The media type of the text. Default: JSON. */
  readonly mediaType?: string | undefined;
  /** The revision that the writer saw, for `If-Match`. `none`: it must not exist yet. */
  readonly seen?: number | 'none' | undefined;
  /** The protected environment for which the person has confirmed it. */
  readonly confirmed?: string | readonly string[] | undefined;
  /** The reason, for the audit log. */
  readonly note?: string | undefined;
  /** Sent instead of the change, where other people must approve it. */
  readonly wish?: Wish | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Requests that write no audit entry, or that have no actor yet. */
const UNRECORDED = /^\/api\/(session|setup|invitations\/(accept|inspect))$|\/(test|replay)$|[?&]dryRun=true$/;

/** Decisions about a proposal, which are no proposals themselves. */
const DECISION = /\/proposals\//;

const signedOut = createWatchers();

/** Calls a function when a response shows that the session has ended. Returns the function that stops it. */
export const onSignedOut = signedOut.watch;

/** Counts the sign-ins of this page. */
let signIns = 0;

/** Notes a sign-in, so that refusals of earlier requests do not end the new session. */
export function noteSignIn(): void {
  signIns++;
}

/**
 * Sends a request to the management API with the session's cookie and returns the parsed body; `undefined` for an empty
 * one. Rejects with an {@link ApiError} if it is refused. If the answer to a change is lost, it first finds out what became
 * of the change, and rejects with what {@link errorOfLost} says: nothing else may say that something was not changed.
 * A change that was proposed instead rejects with `proposed`, once the screen has said so.
 *
 * The shape of the response is the API's contract, which a test compares with the OpenAPI document.
 */
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  return parse(await requestText(method, path, options)) as T;
}

/** How a query reads a record. */
export function reading<Body>(path: string): (query: Query) => Promise<Body> {
  return ({ signal }) => request('GET', path, { signal });
}

/** How a query reads a list, which is a member of the answer. */
export function readingList<Item>(path: string, member: string): (query: Query) => Promise<readonly Item[]> {
  return async ({ signal }) => {
    const answer = await request<Readonly<Record<string, unknown>>>('GET', path, { signal });
    // The shape is the API's contract, as everywhere.
    return answer[member] as readonly Item[];
  };
}

/** What the reader of a query gets. */
interface Query {
  readonly signal?: AbortSignal;
}

/** Like {@link request}, but returns the body's text: numbers keep their notation, and members their order. */
export async function requestText(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<string> {
  if (method === 'GET' || UNRECORDED.test(path)) return await answerTo(method, path, options);
  const reference = newReference();
  try {
    return await answerTo(method, withWish(path, options.wish), { ...options, reference });
  } catch (error) {
    const wanted = await askFor(error, path, options);
    if (wanted !== undefined) return requestText(method, path, { ...options, ...wanted });
    throw isCertain(error) ? error : await errorOfLost(reference, path, error);
  }
}

/** Asks the person for what the server says a change lacks: approval or a reason. `undefined`: nothing, or no answer. */
async function askFor(error: unknown, path: string, { wish, note = '' }: RequestOptions) {
  // The environment has come to require approval since the screen last read it.
  if (isRefusal(error, 'approval_required') && wish === undefined && !DECISION.test(path))
    return currentApprovals()?.ask();
  if (isRefusal(error, 'reason_required') && note === '') return currentApprovals()?.askReason();
  return undefined;
}

async function answerTo(method: string, path: string, options: SentOptions): Promise<string> {
  const signInsBefore = signIns;
  const { response, text } = await send(method, path, options);
  const isOurs = text === '' || response.headers.get('Content-Type')?.includes('json') === true;
  if (response.status === 202 && options.wish !== undefined) {
    currentApprovals()?.proposed(text);
    throw new ApiError({ code: 'proposed', message: text, status: 202 });
  }
  if (response.ok && (isOurs || method === 'GET')) return text;
  const body: unknown = parse(text);
  const error = refusalOf(response, body);
  // A request without its cookie gets the error of a missing token. A wrong password is reported in the sign-in form.
  if (error.status === 401 && error.code !== 'sign_in_failed' && signIns === signInsBefore) signedOut.tell();
  throw error;
}

/** An address below `/api` with its parts escaped: ``api`projects/${name}/flags` ``. */
export function api(strings: TemplateStringsArray, ...parts: readonly (string | number)[]): string {
  return `/api/${String.raw(strings, ...parts.map((part) => encodeURIComponent(part)))}`;
}

interface SentOptions extends RequestOptions {
  readonly reference?: string;
}

async function send(
  method: string,
  path: string,
  options: SentOptions,
): Promise<{ readonly response: Response; readonly text: string }> {
  const { body, signal, text = body === undefined ? undefined : JSON.stringify(body) } = options;
  try {
    const response = await fetch(path, {
      method,
      headers: headersOf(options),
      credentials: 'same-origin',
      cache: 'no-store',
      ...(text === undefined ? {} : { body: text }),
      ...(signal === undefined ? {} : { signal }),
    });
    return { response, text: await response.text() };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    const message = "Can't reach the server. Check your connection and try again.";
    throw new ApiError({ code: 'unreachable', message, status: 0 }, { cause });
  }
}

function headersOf({
  body,
  text,
  mediaType = 'application/json',
  seen,
  confirmed,
  note,
  reference,
}: SentOptions): Record<string, string> {
  const names = typeof confirmed === 'string' ? confirmed : confirmed?.join(',');
  return {
    Accept: 'application/json',
    ...(body === undefined && text === undefined ? {} : { 'Content-Type': mediaType }),
    ...(seen === undefined ? {} : seen === 'none' ? { 'If-None-Match': '*' } : { 'If-Match': `"${seen}"` }),
    ...(names === undefined || names === '' ? {} : { 'X-Confirm-Environment': names }),
    ...(reference === undefined ? {} : { [REFERENCE_HEADER]: reference }),
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
    // Not from the API: perhaps the page of a proxy. The status is enough.
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
