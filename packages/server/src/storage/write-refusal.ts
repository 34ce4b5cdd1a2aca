import { UnwritableDatabaseError } from '../domain/errors.ts';
import type { Database } from './database.ts';

/** Milliseconds between two looks whether a database takes writes again. */
const PROBE_MS = 5_000;

/** Called when a database begins to refuse writes, with the reason, and without one when it takes them again. */
export type OnRefusal = (reason: string | undefined) => void;

/**
 * Knows whether a database refuses writes, because its disk is full for example. It learns that from a write that failed; from
 * then on it tries one of its own every few seconds, because people may not change anything for hours.
 */
export class WriteRefusal {
  readonly #database: Pick<Database, 'transaction'>;
  readonly #onChange: OnRefusal;
  #reason: string | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(database: Pick<Database, 'transaction'>, onChange: OnRefusal) {
    this.#database = database;
    this.#onChange = onChange;
  }

  /** Why the database refuses writes, in a sentence without a full stop; `undefined` while it takes them, as far as is known. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** A write has failed. */
  note(error: unknown): void {
    if (!(error instanceof UnwritableDatabaseError) || this.#isClosed || this.#reason !== undefined) return;
    this.#change(error.message);
    this.#probeLater();
  }

  /** Ends the looks. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Writes something and removes it. Another failure, such as a lost connection, says nothing about the disk. */
  async probe(): Promise<void> {
    try {
      await this.#database.transaction(async (transaction) => {
        const bucket = `probe:${crypto.randomUUID()}`;
        await transaction.query('INSERT INTO sign_in_failures (bucket, failures, since) VALUES ($1, 0, 0)', [
          bucket,
        ]);
        await transaction.query('DELETE FROM sign_in_failures WHERE bucket = $1', [bucket]);
      });
      this.#change(undefined);
    } catch (error) {
      if (error instanceof UnwritableDatabaseError) this.#change(error.message);
    }
  }

  #probeLater(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(async () => {
      await this.probe();
      if (this.#reason !== undefined) this.#probeLater();
    }, PROBE_MS);
    this.#timer.unref();
  }

  #change(reason: string | undefined): void {
    if (reason === this.#reason || this.#isClosed) return;
    this.#reason = reason;
    this.#onChange(reason);
  }
}
