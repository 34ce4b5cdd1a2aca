import { docsPage, ERROR_STATUS, type ErrorBody, REQUEST_ID_HEADER } from '@halyard/protocol';
import type { Logger } from 'pino';
import { ServiceError, StoreBusy, StoreOutage } from '../domain/errors.ts';
import { noteOutage } from './outage-log.ts';

/** Seconds a caller is asked to wait while the store is away or held by others. */
const RETRY_SECONDS = 1;

/** What the translation of an error needs to know of its request. */
export interface ErrorContext {
  /** Base of the documentation links, without a trailing slash. It never depends on the request. */
  readonly docsUrl: string;
  readonly requestId: string;
  readonly log: Logger;
}

/**
 * The one place where an error becomes an answer. A {@link ServiceError} says its own code and message; anything else
 * is `internal_error` with a fixed sentence, its cause going to the log under the request's id: as an error where
 * someone must act, as one warning for a store that is away. (Spec: Errors)
 */
export function errorResponse(error: unknown, context: ErrorContext): Response {
  const known = error instanceof ServiceError ? error : hide(error, context);
  const body: ErrorBody = {
    error: known.code,
    message: known.message,
    docs: docsPage(context.docsUrl, known.code),
  };
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    [REQUEST_ID_HEADER]: context.requestId,
  };
  if (known.retryAfterSeconds !== undefined) headers['Retry-After'] = String(known.retryAfterSeconds);
  return new Response(JSON.stringify(body), { status: ERROR_STATUS[known.code], headers });
}

/** 404 for a path that is no route. */
export function notFound(path: string): ServiceError {
  return new ServiceError(
    'not_found',
    `There is nothing at ${JSON.stringify(path.slice(0, 200))}: the API reference, /docs/api, lists what there is.`,
  );
}

/** 400 for a request that does not say, or not in words of a URL, which host it means. (RFC 9112, 3.2) */
export function hostInvalid(): ServiceError {
  return new ServiceError(
    'invalid_argument',
    'The header Host is missing or names no host: send the name of this server.',
  );
}

/** 405 with `Allow`, for a path that does not take this method. */
export function refuseMethod(method: string, allowed: readonly string[], context: ErrorContext): Response {
  const message = `${method} is not allowed here. Use ${allowed.join(' or ')}.`;
  const refusal = errorResponse(new ServiceError('method_not_allowed', message), context);
  refusal.headers.set('Allow', allowed.join(', '));
  return refusal;
}

function hide(error: unknown, context: ErrorContext): ServiceError {
  if (error instanceof StoreOutage) {
    noteOutage(context.log, { outage: error, requestId: context.requestId });
    return passing('The database is out of reach at the moment; try again shortly.', error);
  }
  if (error instanceof StoreBusy) {
    context.log.warn({ reason: error.message, requestId: context.requestId }, 'request gave up waiting');
    return passing('Another change takes longer than this one can wait; try again shortly.', error);
  }
  context.log.error({ err: error, requestId: context.requestId }, 'request failed');
  return new ServiceError(
    'internal_error',
    'The server could not answer this request; its log has the cause.',
    {
      cause: error,
    },
  );
}

/** A failure that heals by itself, after which nothing was written. */
function passing(message: string, cause: Error): ServiceError {
  return new ServiceError('internal_error', message, { cause, retryAfterSeconds: RETRY_SECONDS });
}
