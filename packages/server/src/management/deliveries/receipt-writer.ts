import type { DeliveryReceipt, DeliveryStore } from '../../domain/delivery.ts';

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
