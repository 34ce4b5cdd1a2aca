/** Codes the server answers with. (Spec: S7.2) */
export type ServerErrorCode =
  | 'invalid_api_key'
  | 'invalid_argument'
  | 'environment_not_found'
  | 'flag_not_found'
  | 'rate_limited'
  | 'internal_error';

/**
 * Codes the client adds.
 *
 * - `network_error`: the server could not be reached, or the connection broke before the answer.
 * - `timeout`: no answer within the time allowed, or no sign of life on an open stream.
 * - `invalid_response`: the answer is not that of a flag service, or one flag (`flagKey`) is invalid and was left out.
 * - `stream_error`: an open stream broke or ended early, or the runtime's `fetch` cannot stream.
 * - `revision_reset`: the server's revisions restarted lower (a restored database); its map has been accepted.
 * - `not_ready`: no flags have been loaded yet. Only as the `errorCode` of an evaluation.
 * - `type_mismatch`: the flag's value has another JSON type than the default of the read.
 * - `invalid_options`: the options of `createClient` cannot work.
 * - `listener_error`: a listener of the application threw.
 * - `client_closed`: the client was used after `close()`.
 */
export type ClientErrorCode =
  | 'network_error'
  | 'timeout'
  | 'invalid_response'
  | 'stream_error'
  | 'revision_reset'
  | 'not_ready'
  | 'type_mismatch'
  | 'invalid_options'
  | 'listener_error'
  | 'client_closed';

/** The type of `FlagsError.code`. A newer server may add codes. */
export type FlagErrorCode = ServerErrorCode | ClientErrorCode | (string & {});

/** Details of a {@link FlagsError} beside its code and message. */
export interface FlagsErrorDetails {
  readonly status?: number;
  readonly docs?: string;
  readonly flagKey?: string;
  readonly retryable?: boolean;
  readonly retryInMs?: number;
  readonly cause?: unknown;
}

/** A failure, as passed to `onError`. It never contains the project key. (Spec: S1.7) */
export class FlagsError extends Error {
  declare readonly code: FlagErrorCode;
  /** HTTP status, if the server answered. */
  declare readonly status?: number;
  /** Address of the documentation page of the code, if the server sent one. */
  declare readonly docs?: string;
  /** The flag the failure is about. */
  declare readonly flagKey?: string;
  /** Whether the client retries on its own. Default `true`. */
  declare readonly retryable: boolean;
  /** Milliseconds the server asked to wait (`Retry-After`). */
  declare readonly retryInMs?: number;

  constructor(code: FlagErrorCode, message: string, details?: FlagsErrorDetails) {
    super(message);
    Object.assign(this, { name: 'FlagsError', code, retryable: true }, details);
  }
}

/** Whether only a person can undo the cause: a key or an environment the service does not know. */
export function isRefusal(error: Pick<FlagsError, 'status' | 'code'> | undefined): boolean {
  return error?.status === 401 || error?.code === 'environment_not_found';
}
