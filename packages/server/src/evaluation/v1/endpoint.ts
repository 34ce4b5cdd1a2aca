import { REQUEST_ID_HEADER, REVISION_HEADER, SERVICE_KEY_HEADER, STALE_HEADER } from '@halyard/protocol';
import type { BunRequest, Server } from 'bun';
import { errorResponse, hostInvalid, notFound, refuseMethod } from '../../http/errors.ts';
import { requestIdOf } from '../../http/request.ts';
import type { EvaluationContext } from './context.ts';
import type { EvaluationOperation } from './counters.ts';

const EXPOSED = ['ETag', 'Retry-After', REVISION_HEADER, STALE_HEADER, REQUEST_ID_HEADER].join(', ');
const ACCEPTED = [SERVICE_KEY_HEADER, 'Content-Type', 'If-None-Match', REQUEST_ID_HEADER].join(', ');

/** Answers one kind of request; refuses by throwing. */
export type Handler<Path extends string> = (
  request: BunRequest<Path>,
  requestId: string,
  server: Server<undefined>,
) => Response | Promise<Response>;

/** The methods of one path, each with its name in the metrics and its handler. */
export type Methods<Path extends string> = Partial<
  Record<'GET' | 'POST', { readonly operation: EvaluationOperation; readonly handler: Handler<Path> }>
>;

/** One path: the methods it takes are handled, every other is refused with `Allow`. */
export function endpoint<Path extends string>(context: EvaluationContext, methods: Methods<Path>) {
  const allowed = Object.keys(methods);
  const handlers = new Map(
    Object.entries(methods).map(([method, { operation, handler }]) => [
      method,
      observed(context, operation, handler),
    ]),
  );
  return (request: BunRequest<Path>, server: Server<undefined>): Response | Promise<Response> =>
    handlers.get(request.method)?.(request, server) ?? otherMethod(context, request, allowed);
}

/** Every other path under `/v1`: 404, which a page of a listed origin can read like any other error. */
export function unknownPath(context: EvaluationContext) {
  const refuse = observed(context, 'other', (request) => {
    if (!URL.canParse(request.url)) throw hostInvalid();
    throw notFound(new URL(request.url).pathname);
  });
  return (request: BunRequest, server: Server<undefined>): Response | Promise<Response> =>
    isPreflight(context, request) ? preflight(context, request, ['GET', 'POST']) : refuse(request, server);
}

/** Whether this is a browser's preflight request. */
function isPreflight(context: EvaluationContext, request: Request): boolean {
  return request.method === 'OPTIONS' && context.corsOrigins.size > 0;
}

/** Answers a method that the path does not take. */
function otherMethod(context: EvaluationContext, request: Request, allowed: readonly string[]): Response {
  if (isPreflight(context, request)) return preflight(context, request, allowed);
  const refusal = refuseMethod(request.method, allowed, contextOf(context, requestIdOf(request)));
  context.counters.of('other').count(refusal.status);
  return context.corsOrigins.size === 0 ? refusal : allowOrigin(context, request, refusal);
}

/** Wraps a handler: passes it the request's id, translates what it throws, counts its answer. */
function observed<Path extends string>(
  context: EvaluationContext,
  operation: EvaluationOperation,
  handler: Handler<Path>,
) {
  const counter = context.counters.of(operation);
  function finish(request: Request, response: Response): Response {
    counter.count(response.status);
    return context.corsOrigins.size === 0 ? response : allowOrigin(context, request, response);
  }
  function refuse(request: Request, requestId: string, error: unknown): Response {
    return finish(request, errorResponse(error, contextOf(context, requestId)));
  }
  async function finishLater(request: Request, requestId: string, answer: Promise<Response>) {
    try {
      return finish(request, await answer);
    } catch (error) {
      return refuse(request, requestId, error);
    }
  }
  return (request: BunRequest<Path>, server: Server<undefined>): Response | Promise<Response> => {
    const requestId = requestIdOf(request);
    try {
      const answer = handler(request, requestId, server);
      if (answer instanceof Promise) return finishLater(request, requestId, answer);
      return finish(request, answer);
    } catch (error) {
      return refuse(request, requestId, error);
    }
  };
}

function contextOf(context: EvaluationContext, requestId: string) {
  return { docsUrl: context.docsUrl, log: context.log, requestId };
}

/** Lets a page of a listed origin read the answer. Never with credentials, never for every origin. */
function allowOrigin(context: EvaluationContext, request: Request, response: Response): Response {
  response.headers.append('Vary', 'Origin');
  const origin = request.headers.get('Origin');
  if (origin === null || !(context.corsOrigins.has(origin) || context.corsOrigins.has('*'))) return response;
  response.headers.set('Access-Control-Allow-Origin', origin);
  response.headers.set('Access-Control-Expose-Headers', EXPOSED);
  return response;
}

/** Answers a browser's preflight request, which needs no key. */
function preflight(context: EvaluationContext, request: Request, methods: readonly string[]): Response {
  const response = new Response(null, { status: 204 });
  response.headers.set('Access-Control-Allow-Methods', methods.join(', '));
  response.headers.set('Access-Control-Allow-Headers', ACCEPTED);
  response.headers.set('Access-Control-Max-Age', '600');
  return allowOrigin(context, request, response);
}
