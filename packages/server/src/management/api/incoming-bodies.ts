import { ServiceError, temporaryError } from '../../domain/errors.ts';
import { announcedLength, IDLE_SECONDS, readWatched } from '../../http/request.ts';

/** Bytes of bodies that arrive or are being worked on, of all authors and of one. The largest document fits twice. */
const LIMITS = { all: 128 * 1024 * 1024, author: 64 * 1024 * 1024 } as const;

/** How long no byte of a body may come, in milliseconds. */
const SILENCE_MS = IDLE_SECONDS * 1000;

/** A body, whose bytes count until it is let go. */
export interface IncomingBody extends Disposable {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether all of it had come before it was read. */
  readonly wasHere: boolean;
}

/** Options of {@link IncomingBodies}. */
export interface IncomingBodiesOptions {
  readonly limits?: { readonly all: number; readonly author: number };
  readonly silenceMs?: number;
}

/**
 * The bodies of authenticated requests. They are counted before they are read: by the length that is announced, or piece by
 * piece. So a caller fills no memory with bodies that never end.
 */
export class IncomingBodies {
  readonly #limits: { readonly all: number; readonly author: number };
  readonly #silenceMs: number;
  readonly #byAuthor = new Map<string, number>();
  #all = 0;

  constructor({ limits = LIMITS, silenceMs = SILENCE_MS }: IncomingBodiesOptions = {}) {
    this.#limits = limits;
    this.#silenceMs = silenceMs;
  }

  /**
   * Reads a body. `invalid_argument` as for any body, also when no byte comes for ten seconds; `rate_limited` for too many bytes of one
   * author at once, and `internal_error` with `Retry-After` for too many of all.
   */
  async read(request: Request, maxBytes: number, author: string): Promise<IncomingBody> {
    let counted = 0;
    let wasHere = true;
    const count = (bytes: number) => {
      this.#count(author, bytes);
      counted += bytes;
    };
    const release = () => {
      this.#forget(author, counted);
      counted = 0;
    };
    // What is larger is refused once that much has come.
    count(Math.min(announcedLength(request) ?? 0, maxBytes));
    try {
      const onWait = () => {
        wasHere = false;
      };
      const watch = { silenceMs: this.#silenceMs, onPiece: count, onWait };
      const bytes = await readWatched(request, maxBytes, watch);
      return { bytes, wasHere, [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #count(author: string, bytes: number): void {
    const own = (this.#byAuthor.get(author) ?? 0) + bytes;
    if (own > this.#limits.author) {
      throw new ServiceError(
        'rate_limited',
        'Your other requests to this node have bodies that are too large together: wait for their answers.',
        { retryAfterSeconds: 1 },
      );
    }
    if (this.#all + bytes > this.#limits.all)
      throw temporaryError('This node is reading too many large bodies: try again shortly.');
    this.#byAuthor.set(author, own);
    this.#all += bytes;
  }

  #forget(author: string, bytes: number): void {
    const left = (this.#byAuthor.get(author) ?? 0) - bytes;
    if (left > 0) this.#byAuthor.set(author, left);
    else this.#byAuthor.delete(author);
    this.#all -= bytes;
  }
}
