import { REQUEST_ID_HEADER, REVISION_HEADER, STALE_HEADER, USAGE_HEADER } from '@halyard/protocol';
import type { BunRequest, Server } from 'bun';
import { hostInvalid, notFound, refuseMethod } from '../../http/errors.ts';
import { namesOneHost, requestIdOf } from '../../http/request.ts';
import type { InterfaceContext } from './context.ts';
import type { EvaluationOperation } from './counters.ts';

const EXPOSED = ['ETag', 'Retry-After', REVISION_HEADER, STALE_HEADER, USAGE_HEADER, REQUEST_ID_HEADER].join(
  ', ',
);

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
export function endpoint<Path extends string>(context: InterfaceContext, methods: Methods<Path>) {
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

/** Every other path of an interface: 404, which a page of a listed origin can read like any other error. */
export function unknownPath(context: InterfaceContext) {
  const refuse = observed(context, 'other', (request) => {
    if (!namesOneHost(request)) throw hostInvalid();
    throw notFound(new URL(request.url).pathname);
  });
  return (request: BunRequest, server: Server<undefined>): Response | Promise<Response> =>
    isPreflight(context, request) ? preflight(context, request, ['GET', 'POST']) : refuse(request, server);
}

/** Whether this is a browser's preflight request. */
function isPreflight(context: InterfaceContext, request: Request): boolean {
  return request.method === 'OPTIONS' && context.corsOrigins.size > 0;
}

/** Answers a method that the path does not take. */
function otherMethod(context: InterfaceContext, request: Request, allowed: readonly string[]): Response {
  if (isPreflight(context, request)) return preflight(context, request, allowed);
  const refusal = refuseMethod(
    request.method,
    allowed,
    contextOf(context, requestIdOf(request)),
    (error, errorContext) => context.dialect.refuse(error, errorContext, request),
  );
  context.counters.of('other').count(refusal.status);
  return context.corsOrigins.size === 0 ? refusal : allowOrigin(context, request, refusal);
}

/** Wraps a handler: passes it the request's id, translates what it throws, counts its answer. */
function observed<Path extends string>(
  context: InterfaceContext,
  operation: EvaluationOperation,
  handler: Handler<Path>,
) {
  const counter = context.counters.of(operation);

  function finish(request: Request, response: Response): Response {
    counter.count(response.status);
    return context.corsOrigins.size === 0 ? response : allowOrigin(context, request, response);
  }

  function refuse(request: Request, requestId: string, error: unknown): Response {
    return finish(request, context.dialect.refuse(error, contextOf(context, requestId), request));
  }

  return (request: BunRequest<Path>, server: Server<undefined>): Response | Promise<Response> => {
    const requestId = requestIdOf(request);
    try {
      const answer = handler(request, requestId, server);
      if (answer instanceof Promise) {
        return answer.then(
          (response) => finish(request, response),
          (error: unknown) => refuse(request, requestId, error),
        );
      }
      return finish(request, answer);
    } catch (error) {
      return refuse(request, requestId, error);
    }
  };
}

function contextOf(context: InterfaceContext, requestId: string) {
  return { docsUrl: context.docsUrl, log: context.log, requestId };
}

/** Lets a page of a listed origin read the answer. Never with credentials, never for every origin. */
function allowOrigin(context: InterfaceContext, request: Request, response: Response): Response {
  response.headers.append('Vary', 'Origin');
  const origin = request.headers.get('Origin');
  if (origin === null || !(context.corsOrigins.has(origin) || context.corsOrigins.has('*'))) return response;
  response.headers.set('Access-Control-Allow-Origin', origin);
  response.headers.set('Access-Control-Expose-Headers', EXPOSED);
  return response;
}

/** Answers a browser's preflight request, which needs no key. */
function preflight(context: InterfaceContext, request: Request, methods: readonly string[]): Response {
  const response = new Response(null, { status: 204 });
  response.headers.set(REQUEST_ID_HEADER, requestIdOf(request));
  response.headers.set('Access-Control-Allow-Methods', methods.join(', '));
  response.headers.set('Access-Control-Allow-Headers', context.dialect.requestHeaders.join(', '));
  response.headers.set('Access-Control-Max-Age', '600');
  return allowOrigin(context, request, response);
}
