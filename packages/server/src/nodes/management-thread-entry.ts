import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { Actor } from '../domain/audit.ts';
import type { HeavyCall } from '../management/api/heavy-call.ts';
import type { Committed } from '../storage/store.ts';
import type { Tx } from '../storage/tx.ts';
import {
  errorMessage,
  errorOf,
  type FromThread,
  type Piece,
  type Question,
  type ThreadSettings,
  type ToThread,
} from './thread-messages.ts';

/** The program that a management thread runs: this file, or the executable that contains it (see main.ts). */
export const THREAD_ENTRY = import.meta.path;

/** Largest piece of an answer that goes to the node at once, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** The connections of the thread to PostgreSQL at most. */
const POOL_SIZE = 2;

/** Where the kernel has to choose, it prefers the thread that serves reads. */
const NICENESS = 5;

if (parentPort !== null) runThread(parentPort);

/** Serves heavy calls for the node, one by one on SQLite. */
function runThread(node: NonNullable<typeof parentPort>): void {
  const send = (message: FromThread, transfer: ArrayBuffer[] = []) => node.postMessage(message, transfer);
  const started = Promise.withResolvers<Awaited<ReturnType<typeof openOperations>>>();
  const bodies = new Map<number, BodyReader>();
  const questions = new Map<number, PromiseWithResolvers<void>>();
  let count = 0;

  const ask = (question: (id: number) => Question) => {
    const granted = Promise.withResolvers<void>();
    questions.set(++count, granted);
    send(question(count));
    return granted.promise;
  };

  const inTurn: NodeSide['inTurn'] = async (work) => {
    await ask((id) => ({ kind: 'turn', id }));
    try {
      return await work();
    } finally {
      send({ kind: 'turnOver' });
    }
  };
  const waitForApplied = (seq: number) => ask((id) => ({ kind: 'committed', id, seq }));

  const sendPiece = async (id: number, send: (piece: Piece, transfer: ArrayBuffer[]) => void) => {
    const piece = await bodies.get(id)?.next();
    if (piece === undefined) return;
    if (piece.isLast) bodies.delete(id);
    send(piece, [piece.bytes.buffer]);
  };

  const answer = async (id: number, call: HeavyCall) => {
    const response = await (await started.promise).operate(call);
    bodies.set(id, new BodyReader(response));
    const head = { status: response.status, headers: Object.fromEntries(response.headers) };
    await sendPiece(id, (piece, transfer) => send({ kind: 'answer', id, ...head, piece }, transfer));
  };

  const more = (id: number) =>
    sendPiece(id, (piece, transfer) => send({ kind: 'piece', id, piece }, transfer));

  const orFail = (id: number, work: Promise<void>) =>
    work.catch((error: unknown) => send({ kind: 'failed', id, error: errorMessage(error) }));

  node.on('message', (message: ToThread) => {
    switch (message.kind) {
      case 'start':
        setPriority(NICENESS);
        return started.resolve(openOperations(message.settings, { inTurn, waitForApplied }));
      case 'call':
        return void orFail(message.id, answer(message.id, message.call));
      case 'more':
        return void orFail(message.id, more(message.id));
      case 'cancel':
        bodies.get(message.id)?.cancel();
        return void bodies.delete(message.id);

      case 'granted': {
        const question = questions.get(message.id);
        questions.delete(message.id);
        if (message.error === undefined) question?.resolve();
        else question?.reject(errorOf(message.error));
        return;
      }

      case 'close':
        void started.promise.then(({ database }) => database.close()).finally(() => process.exit(0));
    }
  });
}

/** What the thread needs of its node for a change. */
interface NodeSide {
  /** Runs work that writes while nothing else of the node does. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly waitForApplied: (seq: number) => Promise<void>;
}

/** Opens the database and mounts the operations over it. Loaded here, so that the node's own thread loads none of it. */
async function openOperations(settings: ThreadSettings, { inTurn, waitForApplied }: NodeSide) {
  const [
    { openDatabase },
    { LazyDatabase, SqlStore },
    { createHeavyOperations },
    { lockOf, StateWriters },
    { GuardedPoster },
  ] = await Promise.all([
    import('../storage/schema.ts'),
    import('../storage/store.ts'),
    import('../app/thread-app.ts'),
    import('../nouns/states/state-writers.ts'),
    import('../http/guarded-post.ts'),
  ]);
  const database = new LazyDatabase(() => openDatabase({ ...settings, databasePoolSize: POOL_SIZE }));

  /**
   * Only a transaction that writes needs the turn: others read documents and compare them beside it. The author may have lost
   * rights while the call waited for its turn; then the turn ends before any work.
   */
  class Store extends SqlStore {
    override commit<T>(actor: Actor, work: (tx: Tx) => Promise<T>): Promise<Committed<T>> {
      return inTurn(async () => {
        await this.requireRights(actor);
        return super.commit(actor, work);
      });
    }
  }

  const store = new Store(database);
  const poster = new GuardedPoster({ networks: settings.webhookNetworks });
  const operate = createHeavyOperations({
    store,
    stateWriters: new StateWriters(store, lockOf(settings)),
    waitForApplied,
    problemOfAddress: (url) => poster.problemOf(url),
    // The node asserts it when it gives the turn.
    assertWritable: () => {},
    now: Date.now,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    newId: () => Bun.randomUUIDv7(),
  });
  return { database, operate };
}

/** Cuts the body of an answer into pieces that can be handed over. */
class BodyReader {
  readonly #chunks: AsyncIterator<Uint8Array> | undefined;
  #left: Uint8Array = Buffer.alloc(0);

  constructor({ body }: Response) {
    this.#chunks = body?.[Symbol.asyncIterator]();
  }

  async next(): Promise<Piece> {
    await this.#fill();
    const bytes = new Uint8Array(this.#left.subarray(0, PIECE_BYTES));
    this.#left = this.#left.subarray(bytes.length);
    // Looks ahead, so that an answer in one piece is known as such.
    const isLast = !(await this.#fill());
    return { bytes, isLast, keptBytes: this.#left.length };
  }

  cancel(): void {
    void this.#chunks?.return?.();
  }

  /** Whether there is more. */
  async #fill(): Promise<boolean> {
    while (this.#left.length === 0) {
      const chunk = await this.#chunks?.next();
      if (chunk === undefined || chunk.done === true) return false;
      this.#left = chunk.value;
    }
    return true;
  }
}
