import type { Server } from 'bun';
import { errorResponse, notFound } from './errors.ts';
import type { EvaluationContext } from './evaluation/context.ts';
import { evaluationRoutes } from './evaluation/routes.ts';
import { healthAnswer, readinessAnswer } from './health.ts';
import { requestIdOf } from './request-id.ts';

/** Seconds a connection may be silent, dripping headers or a body included. Streams are exempt. */
const IDLE_SECONDS = 10;

/** Largest body taken from the socket, in bytes; the routes count and refuse earlier, with a JSON body. */
const MAX_BODY_BYTES = 40 * 1024 * 1024;

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

/** What the listeners of a node serve. */
export interface ListenerParts {
  readonly evaluation: EvaluationContext;
  readonly scrape: (request: Request) => Response | Promise<Response>;
  readonly docs: Fallback;
  readonly management: Fallback;
  readonly dashboard: Fallback;
}

/** Listens, and answers everything with 500 until {@link serveParts} has given it something to serve. */
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

/** Serves everything on one listener. */
export function serveAll(server: Server<undefined>, parts: ListenerParts): void {
  server.reload({
    routes: { ...evaluationRoutes(parts.evaluation), ...healthRoutes(parts), '/metrics': parts.scrape },
    fetch: serveFallbacks(parts.evaluation, [parts.docs, parts.management, parts.dashboard]),
  });
}

/** Serves what programs that read flags need: the evaluation interface, health and documentation. */
export function serveEvaluation(server: Server<undefined>, parts: ListenerParts): void {
  server.reload({
    routes: { ...evaluationRoutes(parts.evaluation), ...healthRoutes(parts) },
    fetch: serveFallbacks(parts.evaluation, [parts.docs]),
  });
}

/** Serves what people and monitoring need: the management interface, metrics, health and documentation. */
export function serveManagement(server: Server<undefined>, parts: ListenerParts): void {
  server.reload({
    routes: { ...healthRoutes(parts), '/metrics': parts.scrape },
    fetch: serveFallbacks(parts.evaluation, [parts.docs, parts.management, parts.dashboard]),
  });
}

function healthRoutes({ evaluation }: ListenerParts) {
  return { '/healthz': healthAnswer, '/readyz': () => readinessAnswer(evaluation.freshness) };
}

function serveFallbacks(evaluation: EvaluationContext, fallbacks: readonly Fallback[]) {
  return async (request: Request, server: Server<undefined>): Promise<Response> => {
    const context = { docsUrl: evaluation.docsUrl, log: evaluation.log, requestId: requestIdOf(request) };
    try {
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
