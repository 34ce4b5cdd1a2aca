import { docsPage, ERROR_STATUS, type ErrorBody, REQUEST_ID_HEADER } from '@halyard/protocol';
import type { Logger } from 'pino';
import {
  ReadOnlyDatabaseError,
  ServiceError,
  StoreBusy,
  StoreOutage,
  UnwritableDatabaseError,
} from '../domain/errors.ts';

/** Seconds after which a caller may retry while the store is unreachable or held by others. */
const RETRY_SECONDS = 1;

/** The same while it refuses writes, until an operator has acted. */
const UNWRITABLE_RETRY_SECONDS = 10;

/** One line in this time covers all requests that fail in an outage, in milliseconds. */
const OUTAGE_PAUSE_MS = 10_000;

/** The request in which an error happened. */
export interface ErrorContext extends FailureContext {
  /** Base of the documentation links, without a trailing slash. It never depends on the request. */
  readonly docsUrl: string;
}

/** Where a failure is logged, and under which request. */
export interface FailureContext {
  readonly requestId: string;
  readonly log: Logger;
}

/**
 * The one place where an error becomes an answer. A {@link ServiceError} has its own code and message; anything else
 * is `internal_error` with a fixed sentence, and its cause is logged under the request's id. `bodyOf` writes the body
 * where it is not the usual one. (Spec: S7.1)
 */
export function errorResponse(
  error: unknown,
  context: ErrorContext,
  bodyOf: (error: ServiceError, ours: ErrorBody) => object = (_, ours) => ours,
): Response {
  const known = error instanceof ServiceError ? error : hide(error, context);
  const body = bodyOf(known, {
    error: known.code,
    message: known.message,
    docs: docsPage(context.docsUrl, known.code),
  });
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    [REQUEST_ID_HEADER]: context.requestId,
  };
  if (known.retryAfterSeconds !== undefined) headers['Retry-After'] = String(known.retryAfterSeconds);
  return new Response(JSON.stringify(body), { status: ERROR_STATUS[known.code], headers });
}

/** 404 for a path that is not a route. */
export function notFound(path: string): ServiceError {
  return new ServiceError(
    'not_found',
    `${JSON.stringify(path.slice(0, 200))} does not exist. The API reference, /docs/api, lists every path.`,
  );
}

/** 404 for a path that would have to be resolved before it could be one of ours. */
export function pathNotLiteral(): ServiceError {
  return new ServiceError(
    'not_found',
    'This path does not exist, and paths are not resolved: send it without "//", ".", "..", "\\" and "#", and without escapes that it does not need.',
  );
}

/** 400 for a request whose `Host` is missing or not a host. (RFC 9112, 3.2) */
export function hostInvalid(): ServiceError {
  return new ServiceError(
    'invalid_argument',
    'The Host header is missing or not a valid host. Send the name of this server.',
  );
}

/** 405 with `Allow`, for a path that does not take this method. */
export function refuseMethod(
  method: string,
  allowed: readonly string[],
  context: ErrorContext,
  respond = errorResponse,
): Response {
  const message = `${method} is not allowed here. Use ${allowed.join(' or ')}.`;
  const refusal = respond(new ServiceError('method_not_allowed', message), context);
  refusal.headers.set('Allow', allowed.join(', '));
  return refusal;
}

function hide(cause: unknown, context: FailureContext): ServiceError {
  logFailure(cause, context);

  if (cause instanceof ReadOnlyDatabaseError) {
    const message =
      'The database of this node takes no changes, because it is a standby. Send them to a node on the primary.';
    return new ServiceError('internal_error', message, { cause });
  }
  if (cause instanceof UnwritableDatabaseError) {
    const message =
      `The database takes no changes: ${cause.message}. Nothing was changed, ` +
      'and what was to be revoked or removed still works. An administrator has to act.';
    return new ServiceError('internal_error', message, {
      cause,
      retryAfterSeconds: UNWRITABLE_RETRY_SECONDS,
    });
  }

  if (cause instanceof StoreOutage) {
    return transient('The database is unreachable at the moment. Try again shortly.', cause);
  }
  if (cause instanceof StoreBusy) {
    return transient('Another change is taking longer than this one can wait. Try again shortly.', cause);
  }

  const message = 'The server could not answer this request; its log has the cause.';
  return new ServiceError('internal_error', message, { cause });
}

/** A failure that heals by itself, after which nothing was written. */
function transient(message: string, cause: Error): ServiceError {
  return new ServiceError('internal_error', message, { cause, retryAfterSeconds: RETRY_SECONDS });
}

/** Logs why a request failed: as an error where an operator must act, as a warning where it heals by itself. */
export function logFailure(error: unknown, { log, requestId }: FailureContext): void {
  if (error instanceof StoreOutage) logOutage(log, { outage: error, requestId });
  else if (error instanceof StoreBusy)
    log.warn({ reason: error.message, requestId }, 'request gave up waiting');
  else log.error({ err: error, requestId }, 'request failed');
}

/** The outage in progress of each log: every node of a process has its own. */
const outages = new WeakMap<Logger, { nextAt: number; unlogged: number }>();

/** A request that failed because the store was unreachable. */
export interface OutageNote {
  readonly outage: StoreOutage;
  readonly requestId: string;
  /** Monotonic milliseconds. */
  readonly now?: number;
}

/**
 * Logs a request that an outage made fail, without a stack: the follower logs the outage itself. The first failure is
 * logged at once, later ones at most every ten seconds, with their number.
 */
export function logOutage(log: Logger, { outage, requestId, now = performance.now() }: OutageNote): void {
  const state = outages.get(log) ?? { nextAt: Number.NEGATIVE_INFINITY, unlogged: 0 };
  outages.set(log, state);
  state.unlogged++;
  if (now < state.nextAt) return;
  log.warn(
    { reason: outage.message, requestId, requests: state.unlogged },
    outage instanceof UnwritableDatabaseError
      ? 'request failed: the database takes no changes'
      : 'request failed: the database is unreachable',
  );
  state.nextAt = now + OUTAGE_PAUSE_MS;
  state.unlogged = 0;
}
