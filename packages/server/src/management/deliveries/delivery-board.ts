import {
  type DeliveryReceipt,
  type DeliveryStore,
  type DeliveryTotals,
  totalOf,
} from '../../domain/delivery.ts';

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
