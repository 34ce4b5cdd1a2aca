import type { BunRequest, Server } from 'bun';
import { errorResponse, methodNotAllowed } from '../errors.ts';
import { requestIdOf } from '../request-id.ts';
import type { EvaluationContext } from './context.ts';
import { allowOrigin, preflight } from './cors.ts';
import type { Operation } from './counters.ts';

/** Answers one kind of request; refuses by throwing. */
export type Handler<Path extends string> = (
  request: BunRequest<Path>,
  requestId: string,
  server: Server<undefined>,
) => Response | Promise<Response>;

/** One endpoint: its method is handled, every other is refused with `Allow`. */
export function endpoint<Path extends string>(
  context: EvaluationContext,
  operation: Operation,
  method: 'GET' | 'POST',
  handler: Handler<Path>,
  allowed: readonly string[] = [method],
) {
  const handle = observed(context, operation, handler);
  return methodTable((request: BunRequest<Path>, server: Server<undefined>) => {
    if (request.method === method) return handle(request, server);
    if (request.method === 'OPTIONS' && context.corsOrigins.size > 0)
      return preflight(context, request, allowed);
    const refusal = errorResponse(
      methodNotAllowed(request.method, allowed),
      contextOf(context, requestIdOf(request)),
    );
    refusal.headers.set('Allow', allowed.join(', '));
    context.counters.count(operation, refusal.status);
    return refusal;
  });
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** The same handler under every method, so that no method falls through to another route. */
function methodTable<H>(handler: H): Record<(typeof METHODS)[number], H> {
  const entries = METHODS.map((method) => [method, handler] as const);
  // `fromEntries` forgets which keys it was given; they are METHODS.
  return Object.fromEntries(entries) as Record<(typeof METHODS)[number], H>;
}

/** Wraps a handler: gives it the request's id, translates what it throws, counts its answer. */
export function observed<Path extends string>(
  context: EvaluationContext,
  operation: Operation,
  handler: Handler<Path>,
) {
  function finish(request: Request, response: Response): Response {
    context.counters.count(operation, response.status);
    return context.corsOrigins.size === 0 ? response : allowOrigin(context, request, response);
  }
  return (request: BunRequest<Path>, server: Server<undefined>): Response | Promise<Response> => {
    const requestId = requestIdOf(request);
    const fail = (error: unknown) => finish(request, errorResponse(error, contextOf(context, requestId)));
    try {
      const answer = handler(request, requestId, server);
      return answer instanceof Promise
        ? answer.then((response) => finish(request, response), fail)
        : finish(request, answer);
    } catch (error) {
      return fail(error);
    }
  };
}

function contextOf(context: EvaluationContext, requestId: string) {
  return { docsUrl: context.docsUrl, log: context.log, requestId };
}
