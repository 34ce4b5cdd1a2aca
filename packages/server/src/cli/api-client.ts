import {
  type ClosedReference,
  createSseParser,
  PENDING_HEADER,
  REFERENCE_HEADER,
  type ReferenceRecord,
} from '@halyard/protocol';
import type { Connection } from '../config/connection.ts';
import { CliError, EXIT, type ExitCode, usageError } from './cli-error.ts';
import { describeConnectionFailure, isHarmlessFailure } from './connection-failure.ts';
import { Fields, parseForDisplay } from './fields.ts';
import { LostAnswer, withOutcome } from './lost-answer.ts';

/** One request to the management API. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Built by {@link apiPath}, which escapes names. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** The body: text is sent unchanged, an object as JSON. */
  readonly body?: string | object;
  /** `application/json` by default. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Reason for the change, kept in the audit log. */
  readonly note?: string | undefined;
  /** Whether the request needs no token. */
  readonly isPublic?: boolean;
  /** Whether it writes nothing into the audit log, so that the server cannot say afterwards whether it was made. */
  readonly isUnrecorded?: boolean;
  /** Timeout of the whole answer, in milliseconds; {@link TIMEOUT_MS} by default. */
  readonly timeoutMs?: number;
}

/** How writes are sent: as a proposal, or as an emergency. */
export interface Wish {
  readonly propose?: boolean;
  readonly emergency?: boolean;
}

/** Thrown for a write whose answer is a proposal: nothing is changed yet. */
export class Proposed extends Error {
  override readonly name = 'Proposed';
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer) {
    super('the change was proposed');
    this.answer = answer;
  }
}

/** An answer with a 2xx status. */
export interface ApiAnswer {
  readonly headers: Headers;
  /** The body, unchanged. */
  readonly text: string;
  /** The body as an object. */
  readonly fields: Fields;
}

/** Sends a request over the network; a node that calls itself passes its own API instead. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

/** Default timeout of an answer, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Items in one page of a list. */
const PAGE_ITEMS = 1000;

const PENDING =
  'The change is saved, but this node does not serve it yet: its database has not brought the change in time.';

/** Talks to the management API of one server. Every failure is a {@link CliError} with its exit code. */
export class ApiClient {
  readonly url: string;
  readonly #token: string | undefined;
  readonly #tokenOrigin: string | undefined;
  readonly #tokenProblem: string | undefined;

  readonly #warn: (sentence: string) => void;
  readonly #wish: Wish;
  readonly #sender: Send;

  /** `warn` is called with what a person should know although the request succeeded. */
  constructor(
    connection: Connection,
    warn: (sentence: string) => void,
    wish: Wish = {},
    sender: Send = (url, init) => fetch(url, init),
  ) {
    this.#warn = warn;
    this.#wish = wish;
    this.#sender = sender;
    this.url = connection.url;
    this.#token = connection.token;
    this.#tokenOrigin = connection.tokenOrigin;
    this.#tokenProblem = connection.tokenProblem;
  }

  /** Sends a request and reads the whole answer. Throws {@link Proposed} if that is a proposal. */
  async request(asked: ApiRequest): Promise<ApiAnswer> {
    if (!isWrite(asked) || asked.isUnrecorded === true) return this.#answer(asked);
    const { propose, emergency } = this.#wish;
    const wish = { propose: propose ? 'true' : undefined, emergency: emergency ? 'true' : undefined };
    const request = { ...asked, query: { ...asked.query, ...wish } };

    const reference = crypto.randomUUID();
    const headers = { ...request.headers, [REFERENCE_HEADER]: reference };

    try {
      return await this.#answer({ ...request, headers });
    } catch (error) {
      if (!(error instanceof LostAnswer)) throw error;
      throw await withOutcome(error, {
        // The shapes are the API's contract.
        ask: () => this.#learn<ReferenceRecord>({ path: apiPath`/changes`, query: { reference } }),
        close: () =>
          this.#learn<ClosedReference>({
            method: 'POST',
            path: apiPath`/changes/close`,
            query: { reference },
          }),
      });
    }
  }

  async #answer(request: ApiRequest): Promise<ApiAnswer> {
    const signal = AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS);
    const response = await this.#send(request, signal);
    const text = await response.text().catch((cause: unknown) => this.#failed(request, cause));
    if (response.headers.get(PENDING_HEADER) === 'true') this.#warn(PENDING);
    const answer: ApiAnswer = {
      headers: response.headers,
      text,
      get fields() {
        return new Fields(parseBody(text));
      },
    };
    if (response.status === 202) throw new Proposed(answer);
    return answer;
  }

  /** What the server says about a write; `unknown` if it cannot say, `undefined` while it does not answer. */
  async #learn<T>(request: ApiRequest): Promise<T | 'unknown' | undefined> {
    try {
      const { text } = await this.#answer(request);
      return JSON.parse(text) as T;
    } catch (error) {
      return error instanceof CliError && error.exitCode !== EXIT.failed ? 'unknown' : undefined;
    }
  }

  /** The pages of a list, one after another; each is asked for when the one before has been taken. */
  async *pages(request: ApiRequest): AsyncGenerator<ApiAnswer, void, undefined> {
    let cursor: string | undefined;
    do {
      const query = { ...request.query, limit: `${PAGE_ITEMS}`, cursor };
      const answer = await this.request({ ...request, query });
      yield answer;
      cursor = answer.fields.optionalText('next');
    } while (cursor !== undefined);
  }

  /** Opens a stream and returns the response once its headers arrive. `signal` closes it. */
  async open(request: ApiRequest, signal: AbortSignal): Promise<Response> {
    return await this.#send(request, signal);
  }

  async #send(request: ApiRequest, signal: AbortSignal): Promise<Response> {
    const { body } = request;
    const response = await this.#sender(this.url + request.path + queryText(request.query), {
      method: request.method ?? 'GET',
      headers: this.#headers(request),
      redirect: 'error',
      signal,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }).catch((cause: unknown) => this.#failed(request, cause));
    if (response.ok) return response;
    throw refusalOf(response, await response.text().catch(() => ''), {
      url: this.url,
      isWrite: isWrite(request),
      tokenOrigin: this.#tokenOrigin ?? 'your settings',
    });
  }

  #headers({ body, contentType, headers, note, isPublic }: ApiRequest): Headers {
    const result = new Headers(headers);
    if (isPublic !== true) {
      if (this.#token === undefined) throw noToken(this.#tokenProblem);
      result.set('Authorization', `Bearer ${this.#token}`);
    }
    if (body !== undefined) result.set('Content-Type', contentType ?? 'application/json');
    if (note !== undefined) result.set('X-Change-Note', headerText(note));
    return result;
  }

  #failed(request: ApiRequest, cause: unknown): never {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    const timeoutMs = request.timeoutMs ?? TIMEOUT_MS;
    const failed = { url: this.url, timeoutMs, isWrite: isWrite(request) };
    const message = describeConnectionFailure(cause, failed);
    const isLost = failed.isWrite && !isHarmlessFailure(cause, this.url);
    throw new (isLost ? LostAnswer : CliError)(message, { cause });
  }
}

function isWrite({ method = 'GET', query }: ApiRequest): boolean {
  return method !== 'GET' && query?.dryRun !== 'true';
}

/**
 * Builds a path and escapes the inserted names: ``apiPath`/projects/${name}` `` is `/api/projects/…`. Throws a usage
 * error for a name that would lead to another address: an empty one, and `.` and `..`, which cannot be escaped.
 */
export function apiPath(fixed: TemplateStringsArray, ...names: readonly string[]): string {
  if (names.includes('')) throw usageError('A name is empty. Is the variable it comes from set?');
  const invalid = names.find((name) => name === '.' || name === '..');
  if (invalid !== undefined) throw usageError(`"${invalid}" is not a valid name.`);
  return `/api${fixed.map((part, index) => part + encodeURIComponent(names[index] ?? '')).join('')}`;
}

/**
 * A note as the text of a header. Headers carry bytes, so the note goes as UTF-8 bytes; line feeds and other control
 * characters are not allowed in a header and become spaces.
 */
function headerText(note: string): string {
  const line = note.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return Buffer.from(line, 'utf8').toString('latin1');
}

function queryText(query: ApiRequest['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) parameters.set(name, value);
  return parameters.size === 0 ? '' : `?${parameters}`;
}

function parseBody(text: string): unknown {
  try {
    return parseForDisplay(text);
  } catch (cause) {
    throw new CliError('The server returned something other than JSON. Is this address a Halyard server?', {
      cause,
    });
  }
}

function refusalOf(
  response: Response,
  text: string,
  { url, isWrite, tokenOrigin }: { url: string; isWrite: boolean; tokenOrigin: string },
): CliError {
  const exitCode = exitCodeOf(response.status);
  // The server may have failed after the commit, or a proxy have stopped waiting for it.
  const Refusal = isWrite && response.status >= 500 ? LostAnswer : CliError;

  let body: Fields;
  try {
    body = new Fields(JSON.parse(text));
  } catch {
    // The page of a proxy or of another program.
    const hint = 'This is not a Halyard answer: check the address and any proxy in between.';
    return new Refusal(`${url} returned ${response.status}. ${hint}`, { exitCode });
  }

  const code = body.optionalText('error');
  const message =
    code === 'invalid_access_token'
      ? rejectedToken(tokenOrigin)
      : (body.optionalText('message') ?? `The server returned ${response.status}.`);

  const docs = body.optionalText('docs');
  return new Refusal(message, { exitCode, ...(code && { code }), ...(docs && { docs }) });
}

/** Replaces the server's message, which is about headers. */
function rejectedToken(origin: string): string {
  return (
    `The server rejected the access token from ${origin}: it is unknown there, expired or revoked. Run "halyard login", set ` +
    "another one in HALYARD_TOKEN or with --token, or set --data to the server's data folder."
  );
}

function exitCodeOf(status: number): ExitCode {
  if (status === 400) return EXIT.usage;
  if (status === 404) return EXIT.notFound;
  return [401, 403, 409, 412, 428].includes(status) ? EXIT.denied : EXIT.failed;
}

function noToken(problem = 'No access token found.'): CliError {
  return new CliError(
    `${problem} Set HALYARD_TOKEN or --token, run "halyard login", or set --data to the data folder of a server on this ` +
      'machine that you can read.',
    { exitCode: EXIT.denied },
  );
}

/**
 * Reads server-sent events: yields the data of each event without a name. `onActivity` is called whenever bytes arrive,
 * so that the caller notices a silent stream.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onActivity: () => void,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const events: string[] = [];
  const parse = createSseParser({
    onData: (data, name) => {
      if (name === 'message') events.push(data);
    },
  });
  for await (const bytes of body) {
    onActivity();
    parse(decoder.decode(bytes, { stream: true }));
    yield* events.splice(0);
  }
}
