import type { BunRequest, Server } from 'bun';
import type { Logger } from 'pino';
import type { Freshness } from '../domain/read-side.ts';
import { errorResponse, hostInvalid, notFound, refuseMethod } from './errors.ts';
import { healthAnswer, readinessAnswer } from './health.ts';
import type { LastAnswers } from './last-answers.ts';
import { requestIdOf } from './request-id.ts';

/** Seconds a connection may be silent, dripping headers or a body included. Streams are exempt. */
export const IDLE_SECONDS = 10;

/**
 * No limit of the parser's own, whose 413 has no JSON body. Each route counts and refuses for itself, and a body that
 * is not read stays in the socket, so it takes no memory.
 */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER;

/** Answers what is not the evaluation interface, or leaves it to the next by giving `undefined`. */
export type Fallback = (
  request: Request,
  server: Server<undefined>,
) => Response | undefined | Promise<Response | undefined>;

/** Where to listen. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly reusePort: boolean;
}

/** What the listeners of a node serve. A node that only serves reads has no management plane. */
export interface ListenerParts {
  /** The routes of the evaluation interface. */
  readonly evaluation: Routes;
  readonly freshness: Freshness;
  /** The metrics. */
  readonly scrape: RouteAnswer;
  readonly docs: Fallback;
  /** The management interface and the dashboard. */
  readonly management?: readonly Fallback[];
  /** Base of the documentation links, without a trailing slash. */
  readonly docsUrl: string;
  readonly log: Logger;
}

/** Listens, and answers everything with 500 until {@link serve} has given it something to serve. */
export function listen(options: ListenOptions): Server<undefined> {
  return Bun.serve({
    hostname: options.host,
    port: options.port,
    reusePort: options.reusePort,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: MAX_BODY_BYTES,
    fetch: () => new Response(null, { status: 500, headers: { 'Retry-After': '1' } }),
  });
}

/** What one listener serves. */
export interface Served {
  readonly routes: Routes;
  readonly health: ReturnType<typeof healthRoutes>;
  readonly fetch: ReturnType<typeof serveFallbacks>;
}

/** Answers one route. */
export type RouteAnswer = (request: BunRequest, server: Server<undefined>) => Response | Promise<Response>;

/** Answers by path, as `Bun.serve` takes them. */
export type Routes = Record<string, RouteAnswer>;

/** Everything, for one listener. */
export function everything(parts: ListenerParts): Served {
  return {
    routes: { ...parts.evaluation, ...metricsRoute(parts) },
    health: healthRoutes(parts),
    fetch: serveFallbacks(parts, [parts.docs, ...(parts.management ?? [])]),
  };
}

/** What programs that read flags need: the evaluation interface, health and documentation. */
export function evaluationOnly(parts: ListenerParts): Served {
  return {
    routes: parts.evaluation,
    health: healthRoutes(parts),
    fetch: serveFallbacks(parts, [parts.docs]),
  };
}

/** What people and monitoring need: the management interface, metrics, health and documentation. */
export function managementOnly(parts: ListenerParts): Served {
  return {
    routes: metricsRoute(parts),
    health: healthRoutes(parts),
    fetch: serveFallbacks(parts, [parts.docs, ...(parts.management ?? [])]),
  };
}

/** Serves it on a listener from now on. */
export function serve(server: Server<undefined>, { routes, health, fetch }: Served): void {
  server.reload({ routes: mapAnswers({ ...routes, ...health }, answeredOnce), fetch: answeredOnce(fetch) });
}

/** Serves it a little longer, each answer ending its connection. Who asks after the node's health is not counted. */
export function serveLast(server: Server<undefined>, served: Served, last: LastAnswers): void {
  const routes = mapAnswers(served.routes, (answer) => last.ending(answer));
  server.reload({
    routes: { ...routes, ...mapAnswers(served.health, answeredOnce) },
    fetch: last.ending(served.fetch),
  });
}

function mapAnswers(routes: Routes, wrap: (answer: RouteAnswer) => RouteAnswer): Routes {
  return Object.fromEntries(Object.entries(routes).map(([path, answer]) => [path, wrap(answer)]));
}

/**
 * Ends the connection after the answer to a chunked body. Bun answers trailer fields with a second answer, a 400, which
 * a proxy would give to its next caller (docs/decisions/0014-http-parser.md).
 */
function answeredOnce<R extends Request>(
  answer: (request: R, server: Server<undefined>) => Response | Promise<Response>,
) {
  return (request: R, server: Server<undefined>): Response | Promise<Response> => {
    const response = answer(request, server);
    if (!request.headers.has('Transfer-Encoding')) return response;
    return response instanceof Promise ? response.then(withClose) : withClose(response);
  };
}

function withClose(response: Response): Response {
  response.headers.set('Connection', 'close');
  return response;
}

function healthRoutes(parts: ListenerParts) {
  return {
    '/healthz': readOnly(parts, healthAnswer),
    '/readyz': readOnly(parts, () => readinessAnswer(parts.freshness)),
  };
}

function metricsRoute(parts: ListenerParts) {
  return { '/metrics': readOnly(parts, parts.scrape) };
}

/** Answers GET and HEAD. */
function readOnly({ docsUrl, log }: ListenerParts, answer: RouteAnswer): RouteAnswer {
  return (request, server) => {
    if (request.method === 'GET' || request.method === 'HEAD') return answer(request, server);
    return refuseMethod(request.method, ['GET', 'HEAD'], { docsUrl, log, requestId: requestIdOf(request) });
  };
}

function serveFallbacks({ docsUrl, log }: ListenerParts, fallbacks: readonly Fallback[]) {
  return async (request: Request, server: Server<undefined>): Promise<Response> => {
    const context = { docsUrl, log, requestId: requestIdOf(request) };
    try {
      if (!URL.canParse(request.url)) throw hostInvalid();
      for (const fallback of fallbacks) {
        const answer = await fallback(request, server);
        if (answer !== undefined) return answer;
      }
      throw notFound(new URL(request.url).pathname);
    } catch (error) {
      return errorResponse(error, context);
    }
  };
}
