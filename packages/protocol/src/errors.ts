/** The error codes of the evaluation interface with their HTTP statuses. (Spec: S7.2) */
export const EVALUATION_ERRORS = {
  invalid_api_key: 401,
  invalid_argument: 400,
  environment_not_found: 404,
  flag_not_found: 404,
  rate_limited: 429,
  internal_error: 500,
} as const;

/** The codes that only the management interface and the routing around both interfaces add. */
const MANAGEMENT_ERRORS = {
  not_found: 404,
  method_not_allowed: 405,
  invalid_access_token: 401,
  project_not_found: 404,
  key_not_found: 404,
  key_ended: 409,
  already_exists: 409,
  revision_conflict: 412,
  not_signed_in: 401,
  sign_in_failed: 401,
  forbidden: 403,
  invitation_invalid: 410,
  flag_archived: 409,
  flag_not_archived: 409,
  not_revertible: 409,
  already_planned: 409,
  approval_required: 409,
  proposal_closed: 409,
  reason_required: 428,
  confirmation_required: 428,
} as const;

/** Every error code a caller can meet, with its HTTP status. */
export const ERROR_STATUS = { ...EVALUATION_ERRORS, ...MANAGEMENT_ERRORS } as const;

/** Any code the server answers with. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** The JSON body of every error answer. (Spec: S7.1) */
export interface ErrorBody {
  readonly error: ErrorCode;
  /** The problem and the remedy. */
  readonly message: string;
  /** The documentation page of the code. */
  readonly docs: string;
}

/** Every error code, for tables and tests. */
export const ERROR_CODES = Object.keys(ERROR_STATUS) as readonly ErrorCode[];

/** Whether `text` is a code this version of the server knows. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_STATUS, text);
}

/** The address of a code's documentation page: `{docsUrl}/errors/{code}`. (Spec: S7.3) */
export function docsPage(docsUrl: string, code: ErrorCode): string {
  return `${docsUrl}/errors/${code}`;
}
