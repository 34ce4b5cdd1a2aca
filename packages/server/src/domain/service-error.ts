import type { ErrorCode } from '@halyard/protocol';

/** Extras of a {@link ServiceError}. */
export interface ServiceErrorOptions extends ErrorOptions {
  /** Seconds after which trying again makes sense; becomes the `Retry-After` header. */
  readonly retryAfterSeconds?: number;
}

/**
 * A refusal with a specified code. Thrown where the rule is broken, translated once in `http/errors.ts`.
 * The message says what was wrong and what would be right; it never holds a key, a flag value or SQL.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** This node cannot answer now, and may soon: `internal_error` with `Retry-After`. */
export function unavailable(message: string): ServiceError {
  return new ServiceError('internal_error', message, { retryAfterSeconds: 1 });
}
