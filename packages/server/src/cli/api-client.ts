import type { Connection } from '../config/connection.ts';
import { CliError, EXIT, type ExitCode } from './cli-error.ts';
import { describeConnectionFailure, MAYBE_CHANGED } from './connection-failure.ts';
import { Fields } from './fields.ts';
import { parseForDisplay } from './json-text.ts';

/** One request to the management API. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Made with {@link apiPath}, so that names are escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** The body as text, sent as it is. */
  readonly body?: string;
  /** `application/json` by default. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Asked without a token. */
  readonly isPublic?: boolean;
  /** How long the whole answer may take, in milliseconds; {@link TIMEOUT_MS} by default. */
  readonly timeoutMs?: number;
}

/** What the server answered with a 2xx status. */
export interface ApiAnswer {
  readonly headers: Headers;
  /** The body as it came. */
  readonly text: string;
  /** The body as an object. */
  readonly fields: Fields;
}

/** How long an answer may take by default, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Talks to the management API of one server. Whatever goes wrong becomes a {@link CliError} with its exit code. */
export class ApiClient {
  readonly url: string;
  /** Where flags are read, which may be another address than where they are managed. */
  readonly readUrl: string;
  readonly #token: string | undefined;
  readonly #tokenProblem: string | undefined;

  constructor(connection: Connection) {
    this.url = connection.url;
    this.readUrl = connection.readUrl;
    this.#token = connection.token;
    this.#tokenProblem = connection.tokenProblem;
  }

  /** Asks and reads the whole answer. */
  async request(request: ApiRequest): Promise<ApiAnswer> {
    const signal = AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS);
    const response = await this.#send(request, signal);
    const text = await response.text().catch((cause: unknown) => this.#failed(request, cause));
    return {
      headers: response.headers,
      text,
      get fields() {
        return new Fields(parseBody(text));
      },
    };
  }

  /** Asks for a stream and gives the response once its head is there. Ends with `signal`. */
  async open(request: ApiRequest, signal: AbortSignal): Promise<Response> {
    return await this.#send(request, signal);
  }

  async #send(request: ApiRequest, signal: AbortSignal): Promise<Response> {
    const headers = this.#headers(request);
    const response = await fetch(this.url + request.path + queryText(request.query), {
      method: request.method ?? 'GET',
      headers,
      redirect: 'error',
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    }).catch((cause: unknown) => this.#failed(request, cause));
    if (response.ok) return response;
    throw refusal(response, await response.text().catch(() => ''), {
      url: this.url,
      isWrite: isWrite(request),
    });
  }

  #headers({ body, contentType, headers, isPublic }: ApiRequest): Headers {
    const result = new Headers(headers);
    if (isPublic !== true) {
      if (this.#token === undefined) throw noToken(this.#tokenProblem);
      result.set('Authorization', `Bearer ${this.#token}`);
    }
    if (body !== undefined) result.set('Content-Type', contentType ?? 'application/json');
    return result;
  }

  #failed(request: ApiRequest, cause: unknown): never {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    const timeoutMs = request.timeoutMs ?? TIMEOUT_MS;
    const message = describeConnectionFailure(cause, { url: this.url, timeoutMs, isWrite: isWrite(request) });
    throw new CliError(message, { cause });
  }
}

function isWrite({ method = 'GET', query }: ApiRequest): boolean {
  return method !== 'GET' && query?.dryRun !== 'true';
}

/**
 * Builds a path whose inserted names are escaped: ``apiPath`/projects/${name}` `` is `/api/projects/…`. Ends the command
 * at a name that would lead to another address: an empty one, and `.` and `..`, which no escape keeps.
 */
export function apiPath(fixed: TemplateStringsArray, ...names: readonly string[]): string {
  const lost = names.find((name) => name === '' || name === '.' || name === '..');
  if (lost !== undefined) {
    const hint = lost === '' ? 'is the variable set that it comes from?' : 'check what was given.';
    throw new CliError(`"${lost}" is the name of nothing: ${hint}`, { exitCode: EXIT.usage });
  }
  return `/api${fixed.map((part, index) => part + encodeURIComponent(names[index] ?? '')).join('')}`;
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
    throw new CliError(
      'The server answered with something that is not JSON: is this address a Halyard server?',
      {
        cause,
      },
    );
  }
}

function refusal(
  response: Response,
  text: string,
  { url, isWrite }: { readonly url: string; readonly isWrite: boolean },
): CliError {
  const exitCode = exitCodeOf(response.status);
  let body: Fields;
  try {
    body = new Fields(JSON.parse(text));
  } catch {
    // Not one of Halyard's own answers: a proxy's page, or another program.
    const hint = 'That is no answer of a Halyard server: check the address, and what stands between.';
    // A proxy that gave up waiting knows nothing of what the server did.
    const outcome = isWrite && response.status >= 500 ? ` ${MAYBE_CHANGED}` : '';
    return new CliError(`${url} answered ${response.status}. ${hint}${outcome}`, { exitCode });
  }
  const code = body.optionalText('error');
  const message =
    code === 'invalid_access_token'
      ? REFUSED_TOKEN
      : (body.optionalText('message') ?? `The server answered ${response.status}.`);
  const docs = body.optionalText('docs');
  return new CliError(message, { exitCode, ...(code && { code }), ...(docs && { docs }) });
}

/** Said instead of the server's own words, which tell of headers. */
const REFUSED_TOKEN =
  'The server does not accept this access token: it is unknown, expired or revoked. Give another one in HALYARD_TOKEN ' +
  'or with --token.';

function exitCodeOf(status: number): ExitCode {
  if (status === 400) return EXIT.usage;
  if (status === 404) return EXIT.notFound;
  if (status === 401 || status === 403 || status === 409 || status === 412) return EXIT.refused;
  return EXIT.failed;
}

function noToken(problem = 'No access token was found.'): CliError {
  return new CliError(
    `${problem} Set HALYARD_TOKEN, give --token, or name the data folder of a server on this machine with --data, as ` +
      'a user who may read it.',
    { exitCode: EXIT.refused },
  );
}
