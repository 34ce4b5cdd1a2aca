import { ERROR_MESSAGES } from './error-messages.ts';

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

/** Whether the session has ended: the dialog that asks to sign in again says so, and nothing else has to. */
export function isSessionEnd(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.code !== 'sign_in_failed';
}

/** What to tell a person of an error: by its code, never in the API's words. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const { code, status, retryAfterSeconds } = error;
  const message = (ERROR_MESSAGES as Readonly<Record<string, string>>)[code];
  if (message === undefined) return `The server answered ${status}. Try again.`;
  if (code !== 'rate_limited' || retryAfterSeconds === undefined) return message;
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const wait =
    retryAfterSeconds < 60 ? 'in a moment' : minutes === 1 ? 'in a minute' : `in ${minutes} minutes`;
  return `${message} Try again ${wait}.`;
}
