import {
  docsPage,
  ERROR_STATUS,
  type ErrorCode,
  type FlagMap,
  type FlagState,
  REVISION_HEADER,
  STALE_HEADER,
} from '@halyard/protocol';
import type { FlagsClient } from '../client-types.ts';
import { Broadcast } from './broadcast.ts';

/** What {@link createFlagsHandler} takes. */
export interface HandlerOptions {
  /** The client whose flags are handed on. It stays the application's to close. */
  readonly client: FlagsClient;
  /**
   * Which flags browsers may see: those it gives `true` for, not a promise. Default: all of the environment. Their states,
   * values included, become public.
   */
  readonly expose?: (key: string, state: FlagState) => boolean;
  /** Who may read. Default: everyone who can reach the handler. */
  readonly authorize?: (request: Request) => boolean | Promise<boolean>;
  /** Streams open at a time; more are refused with 500 and `Retry-After`. Default 1,000. */
  readonly maxStreams?: number;
  /** Where the pages of the error codes are, as `https://flags.example/docs`: becomes `docs` of error answers. */
  readonly docsUrl?: string;
}

/** A request handler as Bun, Deno, Hono, Next.js and workers take it. */
export interface FlagsHandler {
  (request: Request): Promise<Response>;
  /** Ends all streams. Safe to call twice. */
  close(): void;
}

/**
 * Makes a handler that gives the pages of your own application the flags of one environment, and their live stream,
 * without the project key. Mount it anywhere, as at `/flags/*`, and point a client in the page at that address with
 * `apiKey: false`. It serves `…/v1/flags` and `…/v1/stream` as the service does. The handler never throws.
 */
export function createFlagsHandler(options: HandlerOptions): FlagsHandler {
  const { client, expose, authorize, maxStreams = 1_000, docsUrl } = options;
  const select = (flags: FlagMap): FlagMap => {
    if (!expose) return flags;
    const chosen: Record<string, FlagState> = Object.create(null);
    for (const [key, state] of Object.entries(flags)) {
      const answer: unknown = expose(key, state);
      if (answer === true) chosen[key] = state;
      // A promise is not an answer, and what it says comes too late.
      else if (answer instanceof Promise) answer.catch(() => {});
    }
    return chosen;
  };
  const broadcast = new Broadcast(client, (flags) => JSON.stringify(select(flags)));

  /** An error in the specified shape. (Spec: Errors) */
  const refuse = (code: ErrorCode, message: string, headers: Record<string, string> = {}): Response => {
    const body = {
      error: code,
      message,
      ...(typeof docsUrl === 'string' && { docs: docsPage(docsUrl, code) }),
    };
    return Response.json(body, {
      status: ERROR_STATUS[code],
      headers: { 'Cache-Control': 'no-store', ...headers },
    });
  };
  const answer = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const path = /\/v1\/(flags|stream)$/.exec(url.pathname)?.[1];
    if (!path) return refuse('not_found', 'there are /v1/flags and /v1/stream here');
    if (request.method !== 'GET')
      return refuse('method_not_allowed', 'only GET is allowed here', { Allow: 'GET' });
    if (authorize && !(await authorize(request)))
      return refuse('invalid_api_key', 'you may not read these flags');
    const environments = url.searchParams.getAll('env');
    if (environments.length !== 1 || !environments[0])
      return refuse('invalid_argument', 'the query must name one environment: ?env=<name>');
    if (environments[0] !== client.environment)
      return refuse('environment_not_found', 'this address serves another environment');
    // Who waits for a client that has failed waits for its next attempt, which may take minutes.
    const { status } = client.status === 'failed' ? client : await client.ready();
    if (status !== 'ready' && status !== 'bootstrapped')
      return refuse('internal_error', 'the flags have not been loaded yet', { 'Retry-After': '1' });
    if (path === 'flags') return Response.json(...restOf(select(client.all())));
    if (client.status !== 'ready')
      return refuse('internal_error', 'the flags may have changed since they were loaded', {
        'Retry-After': '10',
      });
    if (broadcast.size >= maxStreams)
      return refuse('internal_error', 'too many streams are open', { 'Retry-After': '10' });
    return broadcast.open(headersOf(client));
  };
  const restOf = (flags: FlagMap): [unknown, ResponseInit] => [
    { environment: client.environment, flags },
    { headers: { ...headersOf(client), 'Cache-Control': 'private, no-cache' } },
  ];
  const handler = async (request: Request): Promise<Response> => {
    try {
      return await answer(request);
    } catch {
      // A callback of the application threw; what it said is not for browsers.
      return refuse('internal_error', 'the request could not be answered');
    }
  };
  return Object.assign(handler, { close: () => broadcast.close() });
}

function headersOf(client: FlagsClient): Record<string, string> {
  return {
    ...(client.revision !== undefined && { [REVISION_HEADER]: String(client.revision) }),
    ...(client.status !== 'ready' && { [STALE_HEADER]: '0' }),
  };
}
