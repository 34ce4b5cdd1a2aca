import {
  defined,
  docsPage,
  ENVIRONMENT_HEADER,
  ERROR_STATUS,
  type ErrorCode,
  type FlagMap,
  type FlagState,
  flagConfigRevision,
  parseChangesQuery,
  REVISION_HEADER,
  STALE_HEADER,
} from '@halyard/protocol';
import type { FlagsClient } from '../client-types.ts';
import { Broadcast, type Channel, STREAM_HEADERS } from './broadcast.ts';
import {
  answerAll,
  answerOne,
  failure,
  manifestResponse,
  type OfrepSource,
  readOfrepRequest,
  tagged,
} from './ofrep.ts';
import { findRoute, type Route } from './routes.ts';

/** Options of {@link createFlagsHandler}. */
export interface HandlerOptions {
  /** The client whose flags are served. The application closes it. */
  readonly client: FlagsClient;
  /**
   * Selects the flags that browsers may see: it must return `true`, and synchronously. Default: all flags of the environment.
   * The states of these flags become public, values included. It is called for every flag at every change.
   */
  readonly expose?: (key: string, state: FlagState) => boolean;
  /**
   * Decides who may read. Default: everyone who can reach the handler. It is called for every request, and once a minute for
   * every open stream. It must not read the request's body. A string, such as the id of a user or session, also admits the
   * request, and says whose streams `maxStreamsPerReader` counts.
   */
  readonly authorize?: (request: Request) => boolean | string | Promise<boolean | string>;
  /** Streams that may be open at the same time; more are refused with 500 and `Retry-After`. Default 1,000. */
  readonly maxStreams?: number;
  /**
   * Streams that one reader may have open at a time, where `authorize` returns a string for each; more are refused with
   * 429 and `Retry-After`. Default 20.
   */
  readonly maxStreamsPerReader?: number;
  /** Address of the pages of error codes, such as `https://flags.example/docs`, for the member `docs` of errors. */
  readonly docsUrl?: string;
  /**
   * The path at which browsers reach the handler, such as `/flags`, if a proxy changes paths: OFREP providers are sent there
   * for their event stream. Default: the path of their request.
   */
  readonly publicPath?: string;
}

/** A request handler for Bun, Deno, Hono, Next.js and workers. */
export interface FlagsHandler {
  (request: Request): Promise<Response>;
  /** Ends all streams. Safe to call twice. */
  close(): void;
}

/**
 * Creates a handler that serves the flags of one environment, and their live stream, to the pages of your application. The
 * project key stays on the server. Mount it on the pages' origin, for example at `/flags/*`, and create the page's client with
 * that address and `apiKey: false`. The handler never throws; creating one without a client throws a `TypeError`.
 *
 * Routes: `…/v1/flags` and `…/v1/stream`, as on the service; `…/ofrep/v1/evaluate/flags`, `…/ofrep/v1/evaluate/flags/{key}` and
 * their event stream, for OpenFeature's web and mobile providers; `…/openfeature/v0/manifest`, for OpenFeature's CLI.
 *
 * @example
 * ```ts
 * const handler = createFlagsHandler({ client, expose: (key) => !key.startsWith('internal-') });
 * Bun.serve({ idleTimeout: 0, routes: { '/flags/*': handler } });
 * ```
 */
export function createFlagsHandler(options: HandlerOptions): FlagsHandler {
  const { client, expose, authorize, maxStreams = 1_000, maxStreamsPerReader = 20 } = options ?? {};
  if (!client) throw new TypeError('createFlagsHandler needs { client }');
  const { docsUrl, publicPath } = options;

  const select = (flags: FlagMap): FlagMap => {
    if (!expose) return flags;
    const chosen: Record<string, FlagState> = Object.create(null);
    for (const [key, state] of Object.entries(flags)) {
      const answer: unknown = expose(key, state);
      if (answer === true) chosen[key] = state;
      // `expose` must answer synchronously: a promise counts as `false`.
      else if (answer instanceof Promise) answer.catch(() => {});
    }
    return chosen;
  };

  let caughtUpAt = Number.NEGATIVE_INFINITY;
  const broadcast = new Broadcast(client, select);

  /** An error in the specified shape (Spec: S7.1), with OFREP's own members on OFREP's routes. */
  const refuse = (
    code: ErrorCode,
    message: string,
    route: Route | undefined,
    headers: Record<string, string> = {},
  ): Response => {
    const docs = typeof docsUrl === 'string' && { docs: docsPage(docsUrl, code) };

    const status = ERROR_STATUS[code];
    const body =
      route?.name === 'manifest'
        ? { error: { message, status, code, ...docs } } // the form that OpenFeature's CLI reads
        : {
            error: code,
            message,
            ...docs,
            ...(route?.isOfrep && defined({ key: route.key, errorCode: 'GENERAL', errorDetails: message })),
          };
    return Response.json(body, {
      status,
      headers: { 'Cache-Control': 'no-store', ...headers },
    });
  };

  /** Refuses a query or an address that does not name this handler's environment. */
  const checkEnvironment = (route: Route, request: Request): Response | undefined => {
    let named = route.environment ?? request.headers.get(ENVIRONMENT_HEADER) ?? client.environment;
    if (route.name === 'flags' || route.name === 'stream') {
      const given = new URL(request.url).searchParams.getAll('env');
      if (given.length !== 1 || !given[0])
        return refuse('invalid_argument', 'the query must name one environment: ?env=<name>', route);
      named = given[0];
    }
    return named === client.environment
      ? undefined
      : refuse('environment_not_found', 'this address serves another environment', route);
  };
  /**
   * Another process of the application may have sent the caller here with a newer revision than ours. Once a second at
   * most, as anyone can name a revision.
   */
  const catchUp = async (request: Request): Promise<void> => {
    const named = flagConfigRevision(new URL(request.url).searchParams.get('flagConfigEtag'));
    if (named === undefined || client.revision === undefined || named <= client.revision) return;
    if (performance.now() - caughtUpAt < 1_000) return;
    caughtUpAt = performance.now();
    await client.refresh();
  };

  /** What the reader of a stream asks for, or the answer that refuses it. */
  const channelOf = (request: Request, route: Route): Channel | Response => {
    if (route.name === 'events') return 'refetch';
    const asksForChanges = parseChangesQuery(new URL(request.url).search.slice(1));
    if (!asksForChanges.ok) return refuse('invalid_argument', asksForChanges.problem, route);
    // Where the service does not number its maps, there is nothing that a change could name.
    return asksForChanges.value && client.revision !== undefined ? 'changes' : 'map';
  };

  const openStream = (request: Request, route: Route, reader: string | undefined): Response => {
    const channel = channelOf(request, route);
    if (channel instanceof Response) return channel;
    if (client.status !== 'ready')
      return refuse('internal_error', 'the flags may have changed since they were loaded', route, {
        'Retry-After': '10',
      });
    if (broadcast.size >= maxStreams)
      return refuse('internal_error', 'too many streams are open', route, { 'Retry-After': '10' });
    if (reader !== undefined && broadcast.countOf(reader) >= maxStreamsPerReader)
      return refuse('rate_limited', 'you have too many streams open', route, { 'Retry-After': '10' });

    if (request.method === 'HEAD')
      return new Response(null, { headers: { ...headersOf(client), ...STREAM_HEADERS } });
    return broadcast.open(channel, headersOf(client), {
      reader,
      lastEventId: request.headers.get('Last-Event-ID'),
      // If the check throws, the stream ends.
      isAuthorized: () => admit(request).then(Boolean, () => false),
    });
  };

  /** Whether a request may read; its reader's name where the application gives one. */
  const admit = async (request: Request) => (authorize ? await authorize(request) : true);
  const answer = async (request: Request, route: Route | undefined): Promise<Response> => {
    if (!route || route.name === 'unknown')
      return refuse('not_found', 'there are /v1/flags, /v1/stream and /ofrep/v1/evaluate/flags here', route);
    if (!route.methods.includes(request.method))
      return refuse('method_not_allowed', `only ${route.methods.join(' and ')} is allowed here`, route, {
        Allow: route.methods.join(', '),
      });

    const admitted = await admit(request);
    if (!admitted) return refuse('invalid_api_key', 'you may not read these flags', route);
    const asked = route.name === 'evaluate' ? await readOfrepRequest(request, route.key) : undefined;
    if (asked instanceof Response) return asked;
    if (route.isMalformed)
      return failure(route.key, 'PARSE_ERROR', 'The path has a broken percent-escape: encode it as UTF-8.');

    const refusal = checkEnvironment(route, request);
    if (refusal) return refusal;

    // `ready()` of a client that has failed waits for the next attempt, which may take minutes.
    const { status } = client.status === 'failed' ? client : await client.ready();
    if (status !== 'ready' && status !== 'bootstrapped')
      return refuse('internal_error', 'the flags have not been loaded yet', route, { 'Retry-After': '1' });

    const reader = typeof admitted === 'string' ? admitted : undefined;
    if (route.name === 'stream' || route.name === 'events') return openStream(request, route, reader);

    if (asked) await catchUp(request);
    const flags = select(client.all());
    if (route.name === 'manifest') return manifestResponse(flags, headersOf(client));
    if (!asked) return await tagged(request, { environment: client.environment, flags }, headersOf(client));

    const source: OfrepSource = {
      environment: client.environment,
      flags,
      revision: client.revision,
      headers: headersOf(client),
      streamPath: `${publicPath?.replace(/\/+$/, '') ?? route.base}/ofrep/v1/stream`,
    };
    return route.key === undefined
      ? await answerAll(source, request, asked.targetingKey)
      : answerOne(source, route.key, asked.targetingKey);
  };

  const handler = async (request: Request): Promise<Response> => {
    let route: Route | undefined;
    try {
      route = findRoute(new URL(request.url).pathname);
      const response = await answer(request, route);
      return request.method === 'HEAD' ? new Response(null, response) : response;
    } catch {
      // A callback of the application threw; what it said is not for browsers.
      return refuse('internal_error', 'the request could not be answered', route);
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
