import type { ErrorCode } from '@halyard/protocol';

/** What people are told of each refusal: the API's own sentences speak to programs, of headers and members. */
export const ERROR_MESSAGES: Readonly<Record<ErrorCode | 'unreachable', string>> = {
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
  already_exists: 'This name is already taken.',
  revision_conflict: 'This was changed after you opened it, so nothing was saved. Review it and try again.',
  not_signed_in: 'Your session has ended. Sign in again.',
  sign_in_failed: "The e-mail address and password don't match.",
  forbidden: "You don't have permission to do this. Ask an administrator.",
  invitation_invalid: 'This link was used, withdrawn or has expired. Ask an administrator for a new one.',
  flag_archived: 'The flag is archived. Restore it to change it.',
  flag_not_archived: 'The flag is not archived.',
  not_revertible: 'This can no longer be reverted or canceled.',
  confirmation_required: 'This environment is protected, and the change was not confirmed. Try again.',
};
