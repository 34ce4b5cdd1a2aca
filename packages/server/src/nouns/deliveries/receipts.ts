import { defined } from '@halyard/protocol';
import type { Actor, ChangedPlace } from '../../domain/audit.ts';
import {
  type Delivery,
  type DeliveryFilter,
  type DeliveryReader,
  type DeliveryReceipt,
  type DeliveryStore,
  type DeliveryTotals,
  totalOf,
} from '../../domain/delivery.ts';
import type { ManagementContext } from '../../management/context.ts';
import { readChangedPlaces } from '../history/changed-query.ts';
import { findVisible } from '../history/revert.ts';
import { findProject, recordNotFound } from '../lookup.ts';

/** The delivery of a change, as the nodes have stored it. `not_found`, for a change without receipts as well. */
export async function getDelivery(
  context: ManagementContext,
  deliveries: DeliveryReader,
  { actor, seq }: { readonly actor: Actor; readonly seq: number },
): Promise<Delivery> {
  await context.store.read((db) => findVisible(db, actor, seq));
  const delivery = await deliveries.delivery(seq);
  if (delivery !== undefined) return delivery;
  throw recordNotFound(
    'This change has no delivery receipts: no stream was open, they are still being counted, or they were pruned.',
  );
}

/** A delivery, and what its change was about. */
export type NamedDelivery = Delivery & { readonly changed?: readonly ChangedPlace[] };

/** The newest changes of a project that were sent to streams, newest first. `project_not_found`. */
export async function listDeliveries(
  context: ManagementContext,
  deliveries: DeliveryReader,
  { actor, project, ...which }: DeliveryFilter & { readonly actor: Actor; readonly project: string },
): Promise<readonly NamedDelivery[]> {
  const { id } = await context.store.read((db) => findProject(db, actor, project));
  const list = await deliveries.deliveries(id, which);

  const seqs = list.map(({ seq }) => seq);
  const changed = await context.store.read((db) => readChangedPlaces(db, seqs, 'row'));
  return list.map((delivery) => ({ ...delivery, ...defined({ changed: changed.get(delivery.seq) }) }));
}

/** Milliseconds that receipts are collected before they are written together. */
const FLUSH_MS = 250;

/** Most buffered receipts; under a flood of changes the oldest are dropped. Also bounds the writes: 2,000 a second. */
const MAX_BUFFERED = 500;

/** Receipts written between two prunings. */
const PRUNE_AFTER = 1000;

/** Parts of a {@link ReceiptWriter}. */
export interface ReceiptWriterOptions {
  readonly store: Pick<DeliveryStore, 'saveReceipts' | 'prune'>;
  readonly now: () => number;
  /** Called with the number of dropped receipts: the database is unreachable, or there were too many. */
  readonly onDropped: (count: number, cause?: unknown) => void;
}

/** Writes receipts later, in batches, so that a change never waits for one. A batch that cannot be written is dropped. */
export class ReceiptWriter {
  readonly #options: ReceiptWriterOptions;
  #buffer: DeliveryReceipt[] = [];
  #writtenSincePrune = 0;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: ReceiptWriterOptions) {
    this.#options = options;
  }

  /** Buffers a receipt. */
  add(receipt: DeliveryReceipt): void {
    if (this.#isClosed) return;
    if (this.#buffer.length >= MAX_BUFFERED) {
      this.#buffer.shift();
      this.#options.onDropped(1);
    }
    this.#buffer.push(receipt);
    if (this.#timer === undefined) this.#schedule();
  }

  /** Writes the buffered receipts now, for a read. Never rejects. */
  async flush(): Promise<void> {
    await this.#writing;
    await this.#write();
  }

  /** Writes the buffered receipts, and accepts no more. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.flush();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#writing = this.#write().finally(() => {
        this.#timer = undefined;
        // More receipts may have been added during the write.
        if (this.#buffer.length > 0 && !this.#isClosed) this.#schedule();
      });
    }, FLUSH_MS);
    this.#timer.unref();
  }

  async #write(): Promise<void> {
    const { store, now, onDropped } = this.#options;
    const receipts = this.#buffer;
    if (receipts.length === 0) return;
    this.#buffer = [];
    try {
      await store.saveReceipts(receipts);
    } catch (cause) {
      // A receipt is not worth a retry: the next change writes a new one.
      onDropped(receipts.length, cause);
    }
    this.#writtenSincePrune += receipts.length;
    if (this.#writtenSincePrune < PRUNE_AFTER) return;
    this.#writtenSincePrune = 0;
    // Housekeeping prunes hourly, so a failure here only delays it.
    await store.prune(now()).catch(() => {});
  }
}

/** How long the delivery of a change is reported, and how often other nodes' receipts are read, in milliseconds. */
const RECENT_MS = 10_000;
const POLL_MS = 500;

/** Most nodes whose counts of one change are added up for dashboards: relays report as many as they like. */
const MAX_NODES = 2000;

/** The current count of one node. */
export type NodeCount = Omit<DeliveryReceipt, 'at'>;

interface Recent {
  readonly environmentId: string;
  readonly byNode: Map<string, NodeCount>;
  readonly notedAt: number;
  sent: string;
}

/** Parts of a {@link DeliveryBoard}. */
export interface DeliveryBoardOptions {
  readonly node: string;
  readonly store: Pick<DeliveryStore, 'receipts'>;
  /** Whether there are other nodes whose receipts must be read. */
  readonly hasPeers: () => boolean;
  /** Called when the numbers of a recent change have changed. */
  readonly onTotals: (seq: number, environmentId: string, totals: DeliveryTotals) => void;
}

/** The recent changes and their delivery on all nodes. Only kept while a dashboard watches. */
export class DeliveryBoard {
  readonly #options: DeliveryBoardOptions;
  readonly #recent = new Map<number, Recent>();
  #timer: Timer | undefined;
  #isPolling = false;

  constructor(options: DeliveryBoardOptions) {
    this.#options = options;
  }

  /** Starts to report the delivery of a change. */
  expect(seq: number, environmentId: string): void {
    this.#recent.set(seq, { environmentId, byNode: new Map(), notedAt: performance.now(), sent: '' });
    this.#timer ??= setInterval(() => void this.poll(), POLL_MS).unref();
  }

  /** Takes the count of a node. Counts of changes that are not recent are ignored. */
  note(count: NodeCount): void {
    const recent = this.#recent.get(count.seq);
    if (recent?.environmentId !== count.environmentId) return;
    if (recent.byNode.size >= MAX_NODES && !recent.byNode.has(count.node)) return;
    recent.byNode.set(count.node, count);
    const totals = totalOf(recent.byNode.values());
    const sent = JSON.stringify(totals);
    if (sent === recent.sent) return;
    recent.sent = sent;
    this.#options.onTotals(count.seq, recent.environmentId, totals);
  }

  /** Reads the receipts of other nodes, and forgets changes that are no longer recent. */
  async poll(): Promise<void> {
    this.#forgetOld();
    if (this.#isPolling || this.#recent.size === 0 || !this.#options.hasPeers()) return;
    this.#isPolling = true;
    try {
      const seqs = [...this.#recent.keys()];
      const receipts = await this.#options.store.receipts(Math.min(...seqs), Math.max(...seqs));
      for (const receipt of receipts) if (receipt.node !== this.#options.node) this.note(receipt);
    } catch {
      // The database is unreachable: the next poll tries again.
    } finally {
      this.#isPolling = false;
    }
  }

  /** Forgets all changes. Safe to call twice. */
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
