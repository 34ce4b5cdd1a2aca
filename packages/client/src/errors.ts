/** Codes the server answers with. (Spec: Errors) */
export type ServerErrorCode =
  | 'invalid_api_key'
  | 'invalid_argument'
  | 'environment_not_found'
  | 'flag_not_found'
  | 'rate_limited'
  | 'internal_error';

/** Codes the client adds. */
export type ClientErrorCode =
  /** The server could not be reached, or the connection broke while a request was being answered. */
  | 'network_error'
  /** No answer within the time allowed. */
  | 'timeout'
  /** An answer came, but not one that a flag service gives. */
  | 'invalid_response'
  /** An open stream broke, fell silent or ended early. */
  | 'stream_error'
  /** The server's revisions restarted lower (a restored database); its map has been accepted. */
  | 'revision_reset'
  /** No flags have been loaded yet, or the first load failed. Only as the `errorCode` of an evaluation. */
  | 'not_ready'
  /** The flag's value has another JSON type than the default it was read with. */
  | 'type_mismatch'
  /** The options of `createClient` cannot work. */
  | 'invalid_options'
  /** A listener of the application threw. */
  | 'listener_error'
  /** The client was used after `close()`. */
  | 'client_closed';

/** What `FlagsError.code` holds; a newer server may add codes. */
export type FlagErrorCode = ServerErrorCode | ClientErrorCode | (string & {});

/** What a {@link FlagsError} may carry beside its code and message. */
export interface FlagsErrorDetails {
  readonly status?: number;
  readonly docs?: string;
  readonly flagKey?: string;
  readonly retryable?: boolean;
  readonly retryInMs?: number;
  readonly cause?: unknown;
}

/** A failure as `onError` gets it. It never contains the project key. (Spec: client behaviour, `onError`) */
export class FlagsError extends Error {
  readonly code: FlagErrorCode;
  /** HTTP status, when the server answered. */
  declare readonly status?: number;
  /** The documentation page of the code, when the server named one. */
  declare readonly docs?: string;
  /** The flag the failure is about. */
  declare readonly flagKey?: string;
  /** Whether the client goes on trying by itself. Default `true`. */
  declare readonly retryable: boolean;
  /** Milliseconds the server asked to wait (`Retry-After`). */
  declare readonly retryInMs?: number;

  constructor(code: FlagErrorCode, message: string, details?: FlagsErrorDetails) {
    super(message);
    this.name = 'FlagsError';
    this.code = code;
    Object.assign(this, { retryable: true }, details);
  }
}
