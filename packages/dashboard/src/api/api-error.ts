import type { ErrorCode } from '@halyard/protocol';

/** What became of a change whose answer was lost, or that was proposed instead. */
type LostCode = 'answer_lost' | 'not_saved' | 'outcome_unknown' | 'proposed';

/** A failed request: the API refused it, or no response arrived. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The error code, such as `revision_conflict`; `unreachable` if no response arrived. */
  readonly code: string;
  /** HTTP status; 0 if no response arrived. */
  readonly status: number;
  /** The documentation page of the error code. */
  readonly docs: string | undefined;
  /** How long to wait before trying again, in seconds. */
  readonly retryAfterSeconds: number | undefined;
  /** The numbers of the changes that were made, with the code `answer_lost`. */
  readonly changes: readonly number[];

  constructor(
    facts: {
      readonly code: string;
      readonly message: string;
      readonly status: number;
      readonly docs?: string | undefined;
      readonly retryAfterSeconds?: number | undefined;
      readonly changes?: readonly number[];
    },
    options?: ErrorOptions,
  ) {
    super(facts.message, options);
    this.code = facts.code;
    this.status = facts.status;
    this.docs = facts.docs;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.changes = facts.changes ?? [];
  }
}

/** Whether the API refused a request with this error code. */
export function isRefusal(error: unknown, code: string): error is ApiError {
  return error instanceof ApiError && error.code === code;
}

/** Whether a failed change was refused. Anything else, also a failure of the server, may have been after the change. */
export function isCertain(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status > 0 && error.status < 500 && error.code in ERROR_MESSAGES;
}

/** Whether a change was made, but its answer was lost. */
export function isMade(error: unknown): error is ApiError {
  return isRefusal(error, 'answer_lost');
}

/** Whether a change was proposed instead of being made. The screen has said so already. */
export function isProposed(error: unknown): error is ApiError {
  return isRefusal(error, 'proposed');
}

/** Whether the session has ended. The sign-in dialog already shows it, so no other message is needed. */
export function isSessionEnd(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.code !== 'sign_in_failed';
}

/** The message to show for an error, chosen by its code because the API's own messages address programs. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const { code, status, retryAfterSeconds } = error;
  const message = messageFor(code);
  if (message === undefined) return `The server answered ${status}. Try again.`;
  if (code !== 'rate_limited' || retryAfterSeconds === undefined) return message;
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const wait =
    retryAfterSeconds < 60 ? 'in a moment' : minutes === 1 ? 'in a minute' : `in ${minutes} minutes`;
  return `${message} Try again ${wait}.`;
}

/** The message for an error code, also for one of several things in an answer; `undefined` for an unknown one. */
export function messageFor(code: string): string | undefined {
  return (ERROR_MESSAGES as Readonly<Record<string, string>>)[code];
}

/** The message for each error code. The API's own messages address programs: they name headers and members. */
const ERROR_MESSAGES: Readonly<Record<ErrorCode | LostCode | 'unreachable', string>> = {
  proposed: 'Proposed.',
  answer_lost: 'Saved. The answer was lost.',
  not_saved: 'Not saved. Try again.',
  outcome_unknown: 'It is unknown whether this was saved. Look at the history before you try again.',
  unreachable: "Can't reach the server. Check your connection and try again.",
  invalid_api_key: 'This project key is not valid.',
  invalid_argument: "The server didn't accept this input. Check what you entered.",
  environment_not_found: 'This environment does not exist. It may have been deleted.',
  flag_not_found: 'This flag does not exist. It may have been archived or deleted.',
  rate_limited: 'Too many attempts.',
  internal_error: "The server couldn't complete this. Try again in a moment.",
  not_found: 'This does not exist. It may have been removed.',
  method_not_allowed: 'The server does not support this. Reload the page and try again.',
  invalid_access_token: 'Your session has ended. Sign in again.',
  project_not_found: 'This project does not exist. It may have been deleted.',
  key_not_found: 'This key does not exist. It may have been removed.',
  key_ended: 'This key has ended or has already been replaced.',
  already_exists: 'This name is already taken.',
  revision_conflict: 'This was changed after you opened it, so nothing was saved. Review it and try again.',
  not_signed_in: 'Your session has ended. Sign in again.',
  sign_in_failed: "The e-mail address and password don't match.",
  forbidden: "You don't have permission to do this. Ask an administrator.",
  invitation_invalid:
    'This link has expired, was revoked or was already used. Ask an administrator for a new one.',
  flag_archived: 'The flag is archived. Restore it to change it.',
  flag_not_archived: 'The flag is not archived.',
  already_planned:
    'This flag has a rollout plan there, or a change of it is scheduled. When the change runs, the plan pauses.',
  not_revertible: 'This can no longer be reverted or canceled.',
  approval_required: 'Other people must approve a change of this environment. Propose it.',
  proposal_closed: 'This proposal has been decided on in the meantime.',
  reason_required: 'Every change of this environment needs a reason. Say why, and try again.',
  confirmation_required: 'This environment is protected, and the change was not confirmed. Try again.',
};
