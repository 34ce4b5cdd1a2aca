import type { Logger } from 'pino';
import { Alarm } from '../../domain/alarm.ts';
import { StoreOutage } from '../../domain/errors.ts';
import type { ManagementContext } from '../../management/context.ts';
import { type Before, BLOCK_ENTRIES, type EntryKey, endOf, makeBlock, parts } from './block.ts';
import { insertBlock, readEntries, readEntryKeys, readLastBlock } from './block-table.ts';

/**
 * Milliseconds after the start; from a change until its entries are chained, with those of the changes after it; more of that at most, by
 * chance, so that several nodes rarely do the same; between two blocks, for others to have their turn; after a failure; without a change.
 */
const PAUSES = {
  start: 2_000,
  gather: 5_000,
  spread: 2_000,
  between: 20,
  error: 10_000,
  idle: 3_600_000,
} as const;

/** How long a node that stops goes on with it, in milliseconds. */
const CLOSING_MS = 1_000;

/** Keys of entries that are read at once, for several blocks. */
const KEYS_AT_ONCE = 5 * BLOCK_ENTRIES;

/** Random bytes of the salt of a block. */
const SALT_BYTES = 32;

/** The parts of a {@link ChainRunner}. */
export interface ChainRunnerParts {
  readonly context: Pick<ManagementContext, 'store' | 'now' | 'randomBytes'>;
  readonly log: Logger;
  /** Whether the database takes changes now. */
  readonly isReady: () => boolean;
}

/**
 * Adds what was written to the audit log to the chain of blocks, a moment later, so that no change waits for it. Every node has a runner: blocks are
 * numbered, so each is added once, by the node that comes first. (Spec: S24.1)
 */
export class ChainRunner {
  readonly #parts: ChainRunnerParts;
  readonly #alarm = new Alarm();
  /** When there is something to chain, on the monotonic clock; at the start, there may be something from before. */
  #dueAt: number | undefined = performance.now() + PAUSES.start;
  /** Until when to go on, on the monotonic clock. */
  #endsAt = Number.POSITIVE_INFINITY;
  #isRunning = false;
  #hasFailed = false;
  #running: Promise<void> | undefined;

  constructor(parts: ChainRunnerParts) {
    this.#parts = parts;
  }

  /** Chains from now on until {@link close}. */
  start(): void {
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** A row of the log was applied. */
  readonly applied = (): void => {
    if (this.#dueAt !== undefined) return;
    this.#dueAt = performance.now() + PAUSES.gather + Math.random() * PAUSES.spread;
    this.#alarm.ring();
  };

  /** Chains everything that is in the audit log, or as much of it as a node that stops has time for. */
  async runOnce(): Promise<void> {
    const { store, now, randomBytes } = this.#parts.context;

    let last: Before | undefined;
    let keys: readonly EntryKey[] = [];
    while (performance.now() < this.#endsAt) {
      last ??= await readLastBlock(store);
      if (keys.length === 0) keys = await readEntryKeys(store, endOf(last), KEYS_AT_ONCE);
      const [part] = parts(keys);
      if (part === undefined) return;

      const salt = randomBytes(SALT_BYTES).toHex();
      const block = makeBlock(last, await readEntries(store, part), { salt, now: now() });
      const isAdded = await store.unlogged((tx) => insertBlock(tx, { ...block, salt }));

      // If another node was first, its block says what comes next.
      last = isAdded ? block : undefined;
      keys = isAdded ? keys.slice(part.length) : [];
      await Bun.sleep(PAUSES.between);
    }
  }

  /** Chains what is left, if the database is there, because the file can be changed unseen while no node runs. Safe to call twice. */
  async close(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#endsAt = performance.now() + CLOSING_MS;
    this.#alarm.ring();
    await this.#running;
    if (this.#parts.isReady()) await this.#tryOnce();
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      const now = performance.now();
      if (this.#dueAt === undefined || now < this.#dueAt) {
        await this.#alarm.wait(this.#dueAt ?? now + PAUSES.idle);
        continue;
      }

      // What is written from now on may not be in it.
      this.#dueAt = undefined;
      const isDone = this.#parts.isReady() && (await this.#tryOnce());
      if (!isDone) this.#dueAt = performance.now() + PAUSES.error;
    }
  }

  /** Returns whether it succeeded. */
  async #tryOnce(): Promise<boolean> {
    try {
      await this.runOnce();
      this.#hasFailed = false;
      return true;
    } catch (err) {
      // Said once: a standby can never be written. The follower reports outages.
      const isKnown = this.#hasFailed || err instanceof StoreOutage;
      this.#hasFailed = true;
      this.#parts.log[isKnown ? 'debug' : 'warn']({ err }, 'audit entries could not be chained; retrying');
      return false;
    }
  }
}
