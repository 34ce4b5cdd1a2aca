import {
  type Delivery,
  type DeliveryReader,
  type DeliveryReceipt,
  type DeliveryStore,
  type DeliveryTotals,
  totalOf,
} from '../../domain/delivery.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ManagementContext } from '../context.ts';
import { findProject } from '../lookup.ts';

/** How far a change has got, as the nodes have written down. `not_found`. */
export async function getDelivery(deliveries: DeliveryReader, seq: number): Promise<Delivery> {
  const delivery = await deliveries.delivery(seq);
  if (delivery !== undefined) return delivery;
  throw new ServiceError(
    'not_found',
    'There are no delivery receipts of this change: no stream was open, it is being counted, or it is too long ago.',
  );
}

/** The newest changes of a project that went to streams, newest first. `project_not_found`. */
export async function listDeliveries(
  context: ManagementContext,
  deliveries: DeliveryReader,
  query: { readonly project: string; readonly limit: number },
): Promise<readonly Delivery[]> {
  const { id } = await context.store.read((reader) => findProject(reader, query.project));
  return deliveries.deliveries(id, query.limit);
}

/** Milliseconds that receipts are collected before they are written together. */
const FLUSH_MS = 250;

/** Receipts that may wait; under a flood of changes the oldest give way. Bounds the writes too: 2,000 a second. */
const MAX_WAITING = 500;

/** Receipts written between two looks at what is too old. */
const PRUNE_AFTER = 1000;

/** Parts of a {@link ReceiptWriter}. */
export interface ReceiptWriterOptions {
  readonly store: Pick<DeliveryStore, 'saveReceipts' | 'prune'>;
  readonly now: () => number;
  /** Hears how many receipts were not written: the database is away, or there were too many. */
  readonly onDropped: (count: number, cause?: unknown) => void;
}

/** Writes receipts down, later and together: a change never waits for one. What cannot be written is dropped. */
export class ReceiptWriter {
  readonly #options: ReceiptWriterOptions;
  #waiting: DeliveryReceipt[] = [];
  #writtenSincePrune = 0;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: ReceiptWriterOptions) {
    this.#options = options;
  }

  /** Takes a receipt to be written. */
  add(receipt: DeliveryReceipt): void {
    if (this.#isClosed) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#waiting.shift();
      this.#options.onDropped(1);
    }
    this.#waiting.push(receipt);
    if (this.#timer === undefined) this.#schedule();
  }

  /** Writes what is waiting now: somebody asks for it. Never rejects. */
  async flush(): Promise<void> {
    await this.#writing;
    await this.#write();
  }

  /** Writes what is waiting, and takes no more. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.flush();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#writing = this.#write().finally(() => {
        this.#timer = undefined;
        // What has come meanwhile is collected in its turn.
        if (this.#waiting.length > 0 && !this.#isClosed) this.#schedule();
      });
    }, FLUSH_MS);
    this.#timer.unref();
  }

  async #write(): Promise<void> {
    const { store, now, onDropped } = this.#options;
    const receipts = this.#waiting;
    if (receipts.length === 0) return;
    this.#waiting = [];
    try {
      await store.saveReceipts(receipts);
    } catch (cause) {
      // A receipt is worth no second try: the next change makes another.
      onDropped(receipts.length, cause);
    }
    this.#writtenSincePrune += receipts.length;
    if (this.#writtenSincePrune < PRUNE_AFTER) return;
    this.#writtenSincePrune = 0;
    // Housekeeping does the same, hourly: a failure here only puts it off.
    await store.prune(now()).catch(() => {});
  }
}

/** How long a change is told of after it was made, and how often other nodes' receipts are looked for, in ms. */
const RECENT_MS = 10_000;
const LOOK_MS = 500;

/** What one node has counted so far. */
export type NodeCount = Pick<
  DeliveryReceipt,
  'seq' | 'node' | 'environmentId' | 'streams' | 'seen' | 'slowestMs'
>;

interface Recent {
  readonly environmentId: string;
  readonly byNode: Map<string, NodeCount>;
  readonly notedAt: number;
  told: string;
}

/** Parts of a {@link DeliveryBoard}. */
export interface DeliveryBoardOptions {
  readonly node: string;
  readonly store: Pick<DeliveryStore, 'receipts'>;
  /** Whether there are other nodes whose receipts are worth looking for. */
  readonly hasPeers: () => boolean;
  /** Hears of a recent change whose figures are others than before. */
  readonly onTotals: (seq: number, environmentId: string, totals: DeliveryTotals) => void;
}

/** The recent changes and how far they have got, over all nodes. Only kept while somebody watches. */
export class DeliveryBoard {
  readonly #options: DeliveryBoardOptions;
  readonly #recent = new Map<number, Recent>();
  #timer: Timer | undefined;
  #isLooking = false;

  constructor(options: DeliveryBoardOptions) {
    this.#options = options;
  }

  /** A change was made; nodes will tell how far it gets. */
  expect(seq: number, environmentId: string): void {
    this.#recent.set(seq, { environmentId, byNode: new Map(), notedAt: performance.now(), told: '' });
    this.#timer ??= setInterval(() => void this.look(), LOOK_MS).unref();
  }

  /** A node has counted. What is said of changes that are not recent is left out. */
  note(count: NodeCount): void {
    const recent = this.#recent.get(count.seq);
    if (recent?.environmentId !== count.environmentId) return;
    recent.byNode.set(count.node, count);
    const totals = totalOf(recent.byNode.values());
    const told = JSON.stringify(totals);
    if (told === recent.told) return;
    recent.told = told;
    this.#options.onTotals(count.seq, recent.environmentId, totals);
  }

  /** Fetches what other nodes have written, and lets go of what is no longer recent. */
  async look(): Promise<void> {
    this.#forgetOld();
    if (this.#isLooking || this.#recent.size === 0 || !this.#options.hasPeers()) return;
    this.#isLooking = true;
    try {
      const seqs = [...this.#recent.keys()];
      const receipts = await this.#options.store.receipts(Math.min(...seqs), Math.max(...seqs));
      for (const receipt of receipts) if (receipt.node !== this.#options.node) this.note(receipt);
    } catch {
      // The database is away: the next look, or the next visit of the page, tells.
    } finally {
      this.#isLooking = false;
    }
  }

  /** Forgets everything: nobody watches. Safe to call twice. */
  clear(): void {
    this.#recent.clear();
    this.#forgetOld();
  }

  #forgetOld(): void {
    const since = performance.now() - RECENT_MS;
    for (const [seq, { notedAt }] of this.#recent) if (notedAt < since) this.#recent.delete(seq);
    if (this.#recent.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
