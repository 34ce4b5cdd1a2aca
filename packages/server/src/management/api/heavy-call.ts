import type { Actor } from '../../domain/audit.ts';

/** One authorized call of a heavy operation, as it goes to another thread. */
export interface HeavyCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly actor: Actor;
  /** Whether the body is a document, of which few are read at once. */
  readonly isDocument?: boolean;
}

/** The thread that answers heavy operations, so that the one that serves reads stays free. */
export interface HeavyThread {
  /** Whether this request goes there; starting the thread is not worth it for little data. */
  takes(request: Request): boolean;
  /**
   * Rejects with the errors that the operation throws, `rate_limited` for too many calls of one author, and `internal_error` for
   * too many of all. `stillValid` is asked between the pieces of a long answer, which breaks off when the rights have ended.
   */
  answer(call: HeavyCall, stillValid?: () => Promise<boolean>): Promise<Response>;
}
