/** Any other answer of the API than success, and no answer at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The error's code, as `revision_conflict`; `unreachable` when no answer came. */
  readonly code: string;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** The documentation page of the code. */
  readonly docs: string | undefined;
  /** How long to wait before trying again, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    facts: {
      readonly code: string;
      readonly message: string;
      readonly status: number;
      readonly docs?: string | undefined;
      readonly retryAfterSeconds?: number | undefined;
    },
    options?: ErrorOptions,
  ) {
    super(facts.message, options);
    this.code = facts.code;
    this.status = facts.status;
    this.docs = facts.docs;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** Whether `error` is the API's refusal with this code. */
export function isRefusal(error: unknown, code: string): error is ApiError {
  return error instanceof ApiError && error.code === code;
}

/** What to tell a person of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
