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
) => Response | Promise<Response> | undefined;

/** Where to listen. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly reusePort: boolean;
}

/** What one listener serves. */
export interface ListenerParts {
  readonly evaluation: EvaluationContext;
  readonly scrape: (request: Request) => Response | Promise<Response>;
  /** Asked in order for every path that is no route. */
  readonly fallbacks: readonly Fallback[];
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

/** Serves the evaluation interface, health, metrics and the fallbacks on a listener. */
export function serveParts(server: Server<undefined>, parts: ListenerParts): void {
  const { evaluation } = parts;
  server.reload({
    routes: {
      ...evaluationRoutes(evaluation),
      '/healthz': healthAnswer,
      '/readyz': () => readinessAnswer(evaluation.freshness),
      '/metrics': parts.scrape,
    },
    fetch: serveFallbacks(evaluation, parts.fallbacks),
  });
}

/** Serves only the fallbacks: the management interface on a listener of its own. */
export function serveOnly(server: Server<undefined>, parts: ListenerParts): void {
  server.reload({ fetch: serveFallbacks(parts.evaluation, parts.fallbacks) });
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
