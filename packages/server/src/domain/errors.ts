import type { ErrorCode } from '@halyard/protocol';
import { shorten } from './text.ts';

/** Extras of a {@link ServiceError}. */
export interface ServiceErrorOptions extends ErrorOptions {
  /** Seconds to wait before a retry; becomes the `Retry-After` header. */
  readonly retryAfterSeconds?: number;
  /** Where in the body the error is: paths as in `tags[1]`, each within the one before. */
  readonly place?: readonly string[];
}

/**
 * A refusal with a specified code. Thrown where the rule is broken, translated once in `http/errors.ts`.
 * The message says what is wrong and how to fix it; it never contains a key, a flag value or SQL.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly place: readonly string[] | undefined;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.place = options.place;
  }
}

/** This node cannot answer now, and may soon: `internal_error`, which is 500, with `Retry-After`. */
export function temporaryError(message: string): ServiceError {
  return new ServiceError('internal_error', message, { retryAfterSeconds: 1 });
}

/** This node does not follow the change log now, so it could not promise every change: {@link temporaryError}. */
export function logIsLost(): ServiceError {
  return temporaryError(
    'This node cannot follow the change log at the moment: try again shortly, or on another node.',
  );
}

/** The author's rights ended or changed before the commit. Nothing was changed. */
export class RightsChanged extends ServiceError {
  constructor(options?: ErrorOptions) {
    super(
      'forbidden',
      'Your permissions changed during this request, and nothing was changed: try again.',
      options,
    );
  }
}

/** A refusal of what the caller sent. */
export function invalid(message: string, options?: ServiceErrorOptions): ServiceError {
  return new ServiceError('invalid_argument', message, options);
}

/** A caller's text for a message: as a JSON string, and short. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${shorten(text, 77)}...` : text);
}

/** The request has no access token that is valid. */
export function invalidAccessToken(): ServiceError {
  return new ServiceError(
    'invalid_access_token',
    'The access token is missing, unknown, expired or revoked: send "Authorization: Bearer <access token>".',
  );
}

/** The project does not exist. */
export function projectNotFound(name: string): ServiceError {
  return new ServiceError(
    'project_not_found',
    `The project ${quote(name)} does not exist: check the name, or create it.`,
  );
}

/** The environment does not exist in the project. */
export function environmentNotFound(name: string): ServiceError {
  return new ServiceError(
    'environment_not_found',
    `The project has no environment ${quote(name)}: check the name, or create it.`,
  );
}

/**
 * The storage cannot be used as it is. The message is for the operator: what is wrong with which file or server, and
 * what to do.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/** Extras of a {@link StoreOutage}. */
export interface StoreOutageOptions extends ErrorOptions {
  readonly retryAfterMs?: number;
}

/**
 * The store cannot be reached, or written, for now: its server is down, starting or a standby, or the network is down.
 * Nothing was written. Retrying helps once the store is back; the cause is the engine's error.
 */
export class StoreOutage extends Error {
  override readonly name = 'StoreOutage';
  /** Not to be tried again any sooner, in milliseconds; absent where trying costs the store nothing. */
  readonly retryAfterMs: number | undefined;

  constructor(message?: string, { retryAfterMs, ...options }: StoreOutageOptions = {}) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Another writer, such as a large import, held a lock for longer than this one waits. Nothing was written, and retrying
 * helps; the cause is the engine's error.
 */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy';
}

/** The database is read-only for now, like a standby that has not been promoted. */
export class ReadOnlyDatabaseError extends StoreOutage {}

/**
 * The database refuses writes, and may still be read: its disk is full or fails, or its file is read-only. The message is a
 * sentence for the operator and for callers, without a path and a full stop.
 */
export class UnwritableDatabaseError extends StoreOutage {}
