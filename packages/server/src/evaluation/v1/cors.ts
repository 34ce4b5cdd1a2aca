import { REQUEST_ID_HEADER, REVISION_HEADER, SERVICE_KEY_HEADER, STALE_HEADER } from '@halyard/protocol';
import type { EvaluationContext } from './context.ts';

const EXPOSED = ['ETag', 'Retry-After', REVISION_HEADER, STALE_HEADER, REQUEST_ID_HEADER].join(', ');
const ACCEPTED = [SERVICE_KEY_HEADER, 'Content-Type', 'If-None-Match', REQUEST_ID_HEADER].join(', ');

/** Lets a page of a listed origin read the answer. Never with credentials, never for every origin. */
export function allowOrigin(context: EvaluationContext, request: Request, response: Response): Response {
  response.headers.append('Vary', 'Origin');
  const origin = request.headers.get('Origin');
  if (origin === null || !(context.corsOrigins.has(origin) || context.corsOrigins.has('*'))) return response;
  response.headers.set('Access-Control-Allow-Origin', origin);
  response.headers.set('Access-Control-Expose-Headers', EXPOSED);
  return response;
}

/** Answers a browser's question before the request; asks for no key. */
export function preflight(
  context: EvaluationContext,
  request: Request,
  methods: readonly string[],
): Response {
  const response = new Response(null, { status: 204 });
  response.headers.set('Access-Control-Allow-Methods', methods.join(', '));
  response.headers.set('Access-Control-Allow-Headers', ACCEPTED);
  response.headers.set('Access-Control-Max-Age', '600');
  return allowOrigin(context, request, response);
}
