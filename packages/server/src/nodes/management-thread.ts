import { Worker } from 'node:worker_threads';
import { ServiceError, temporaryError } from '../domain/errors.ts';
import { UNREAD_MS } from '../http/request.ts';
import type { HeavyCall, HeavyThread } from '../management/api/heavy-call.ts';
import { DocumentTurns } from './document-turns.ts';
import { THREAD_ENTRY } from './management-thread-entry.ts';
import {
  errorMessage,
  errorOf,
  type FromThread,
  type Piece,
  type ThreadSettings,
  type ToThread,
} from './thread-messages.ts';

/** Calls at one time, and bytes that wait in them: bodies on their way in and answers on their way out. */
const LIMITS = { calls: 64, bytes: 128 * 1024 * 1024 } as const;

/** The calls of one author at one time. */
const CALLS_OF_AUTHOR = 16;

/** How long the rights of a caller count while an answer is on its way, in milliseconds. */
const RIGHTS_MS = 1_000;

/** The thread ends when it has had nothing to do for this long, in milliseconds: it takes 30 MB. */
const IDLE_MS = 60_000;

/**
 * How long a change may hold its turn in the database before its thread is given up, in milliseconds: as long as the listener
 * waits for work on a signed-in request. Until then every other change of the node waits.
 */
const TURN_MS = 120_000;

/** Larger bodies are read by the thread however little data the node has, in bytes. */
const SMALL_BODY_BYTES = 64 * 1024;

/** The parts of the node that the thread needs. */
export interface ManagementThreadParts {
  readonly settings: ThreadSettings;
  /** Whether every list is so short that a read can wait for it. */
  isSmall(): boolean;
  /** Throws while the node cannot take changes. */
  assertWritable(): void;
  waitForApplied(seq: number): Promise<void>;
  /** As `Database.yieldTo`. */
  yieldTo(work: () => Promise<void>): Promise<void>;
  /** Default 120,000 ms. */
  readonly turnMs?: number;
  /** How long a caller may take for the next piece of an answer. Default 60,000 ms. */
  readonly silenceMs?: number;
  /** Default 1,000 ms. */
  readonly rightsMs?: number;
}

/** One call that the thread has not finished. */
interface OpenCall {
  bytes: number;
  readonly author: string;
  readonly answer: PromiseWithResolvers<Response>;
  /** Resolves while the caller still has the rights of the beginning. */
  readonly requireRights: () => Promise<void>;
  /** Takes the next piece of an answer in several, or its failure. */
  next?: PromiseWithResolvers<Piece>;
  /** Why the call ended before its last piece was taken. */
  failure?: unknown;
}

/**
 * A thread with a database connection of its own for heavy management operations: long lists, exports, searches,
 * imports. SQLite answers synchronously, and long texts take long to write; without it, reads of flags would wait. Starts
 * with the first such call, ends when it is idle, and is started again when it has failed.
 */
export class ManagementThread implements HeavyThread {
  readonly #parts: ManagementThreadParts;
  readonly #calls = new Map<number, OpenCall>();
  readonly #documents = new DocumentTurns();
  #worker: Worker | undefined;
  /** Settled once the change of the thread has left the database. */
  #turn: PromiseWithResolvers<void> | undefined;
  #idleTimer: Timer | undefined;
  #count = 0;
  #isClosed = false;

  constructor(parts: ManagementThreadParts) {
    this.#parts = parts;
  }

  takes(request: Request): boolean {
    if (!this.#parts.isSmall()) return true;
    // A body without a length is sent in chunks, and may be large.
    const length = request.headers.get('Content-Length');
    return length === null ? request.body !== null : Number(length) > SMALL_BODY_BYTES;
  }

  async answer(
    { isDocument, ...call }: HeavyCall,
    stillValid: () => Promise<boolean> = async () => true,
  ): Promise<Response> {
    this.#requireOpen();
    const author = call.actor.name;
    const bytes = call.body?.byteLength ?? 0;
    this.#requirePlace(author, bytes);

    const id = ++this.#count;
    const answer = Promise.withResolvers<Response>();
    const { rightsMs = RIGHTS_MS } = this.#parts;
    const requireRights = onceIn(rightsMs, async () => {
      if (!(await stillValid())) throw new Error('the rights of the caller have ended');
    });
    this.#calls.set(id, { bytes, author, answer, requireRights });
    clearTimeout(this.#idleTimer);

    const begin = () =>
      this.#send({ kind: 'call', id, call }, call.body === undefined ? [] : [call.body.buffer]);
    if (isDocument !== true) begin();
    else {
      void this.#documents.run(author, async () => {
        // Its thread may have ended while it waited.
        if (!this.#calls.has(id)) return;
        begin();
        await answer.promise.catch(() => {});
      });
    }
    return answer.promise;
  }

  #requirePlace(author: string, bytes: number): void {
    const own = [...this.#calls.values()].filter((call) => call.author === author);
    if (own.length >= CALLS_OF_AUTHOR) {
      throw new ServiceError(
        'rate_limited',
        `You have ${CALLS_OF_AUTHOR} long lists, exports and imports open at this node: read or close one first.`,
        { retryAfterSeconds: 1 },
      );
    }
    if (this.#calls.size < LIMITS.calls && this.#bytes() + bytes <= LIMITS.bytes) return;
    throw temporaryError(
      'This node is answering too many long lists, exports and imports: try again shortly.',
    );
  }

  /**
   * Resolves when the thread may write: no other change does until it says that its turn is over. A thread that hangs is
   * given up, because it would hold up every other change.
   */
  #giveTurn(worker: Worker): Promise<void> {
    const { assertWritable, yieldTo, turnMs = TURN_MS } = this.#parts;
    const begun = Promise.withResolvers<void>();
    const ended = yieldTo(async () => {
      this.#requireOpen();
      // Its thread ended while it waited.
      if (this.#worker !== worker) return;
      assertWritable();

      const over = Promise.withResolvers<void>();
      this.#turn = over;
      begun.resolve();
      const timer = setTimeout(() => {
        void worker.terminate();
        this.#lose(worker, new ServiceError('internal_error', tookTooLong(turnMs)));
      }, turnMs);
      await over.promise;
      clearTimeout(timer);
    });

    ended.catch(begun.reject);
    return begun.promise;
  }

  /** Ends the thread. Its calls fail; the listeners have finished theirs before. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    this.#send({ kind: 'close' });
    await ended;
  }

  #requireOpen(): void {
    if (this.#isClosed) throw temporaryError('This node is stopping: try again on another one, or shortly.');
  }

  #bytes(): number {
    return [...this.#calls.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #send(message: ToThread, transfer: ArrayBuffer[] = []): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message, transfer);
  }

  #start(): Worker {
    const worker = new Worker(THREAD_ENTRY);
    worker.unref();
    worker.on('message', (message: FromThread) => void this.#take(worker, message));
    worker.on('error', (error: Error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, new Error('the thread of the management API has ended')));
    worker.postMessage({ kind: 'start', settings: this.#parts.settings } satisfies ToThread);
    return worker;
  }

  async #take(worker: Worker, message: FromThread): Promise<void> {
    if (this.#worker !== worker) return;
    if (message.kind === 'turnOver') return this.#turn?.resolve();

    const { kind, id } = message;
    if (kind === 'turn' || kind === 'committed') {
      const granted = kind === 'turn' ? this.#giveTurn(worker) : this.#parts.waitForApplied(message.seq);
      const failure = await granted.then(
        () => ({}),
        (error: unknown) => ({ error: errorMessage(error) }),
      );
      if (this.#worker === worker) this.#send({ kind: 'granted', id, ...failure });
      return;
    }

    const call = this.#calls.get(id);
    if (call === undefined) return;
    if (kind === 'answer') call.answer.resolve(this.#response(id, call, message));
    else if (kind === 'failed') this.#fail(id, errorOf(message.error));
    else {
      this.#account(id, call, message.piece);
      call.next?.resolve(message.piece);
    }
  }

  #response(id: number, call: OpenCall, answer: FromThread & { readonly kind: 'answer' }): Response {
    const { status, headers, piece } = answer;
    this.#account(id, call, piece);
    if (piece.isLast) return new Response(status === 204 ? null : piece.bytes, { status, headers });

    const { silenceMs = UNREAD_MS } = this.#parts;
    let isFirst = true;
    let silence: Timer | undefined;
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        clearTimeout(silence);
        const { bytes, isLast } = isFirst ? piece : await this.#next(id, call);
        isFirst = false;
        if (bytes.length > 0) controller.enqueue(bytes);
        if (isLast) return controller.close();

        // An error resets the connection, so that what the caller has does not look complete.
        silence = setTimeout(() => {
          controller.error(new Error('the caller took nothing for too long'));
          this.#abandon(id);
        }, silenceMs);
      },
      cancel: () => {
        clearTimeout(silence);
        this.#abandon(id);
      },
    });
    return new Response(body, { status, headers });
  }

  /** The next piece of an answer. Rejects once its call has failed, or its caller has lost rights. */
  async #next(id: number, call: OpenCall): Promise<Piece> {
    try {
      await call.requireRights();
    } catch (error) {
      this.#abandon(id);
      throw error;
    }
    if (!this.#calls.has(id)) throw call.failure;
    call.next = Promise.withResolvers();
    this.#send({ kind: 'more', id });
    return call.next.promise;
  }

  /** Ends a call whose answer is not wanted. */
  #abandon(id: number): void {
    if (!this.#calls.has(id)) return;
    this.#send({ kind: 'cancel', id });
    this.#end(id);
  }

  #account(id: number, call: OpenCall, { isLast, keptBytes }: Piece): void {
    call.bytes = keptBytes;
    if (isLast) this.#end(id);
  }

  #fail(id: number, error: unknown): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    call.failure = error;
    call.answer.reject(error);
    call.next?.reject(error);
    this.#end(id);
  }

  #end(id: number): void {
    this.#calls.delete(id);
    if (this.#calls.size > 0 || this.#isClosed) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      this.#worker?.postMessage({ kind: 'close' } satisfies ToThread);
      // A call that arrives while it closes starts a new thread.
      this.#worker = undefined;
    }, IDLE_MS);
    this.#idleTimer.unref();
  }

  #lose(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#turn?.resolve();
    for (const id of [...this.#calls.keys()]) this.#fail(id, error);
  }
}

/** Runs `check` when the last one that passed is this long ago, in milliseconds. */
function onceIn(ms: number, check: () => Promise<void>): () => Promise<void> {
  let passedAt = performance.now();
  return async () => {
    if (performance.now() - passedAt < ms) return;
    await check();
    passedAt = performance.now();
  };
}

function tookTooLong(turnMs: number): string {
  return (
    `The node gave up an import, export or long list after ${turnMs / 1000} seconds. ` +
    'A change may have taken effect: look at the history before you send it again.'
  );
}
