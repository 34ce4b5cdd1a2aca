import { StorageError } from '../../domain/errors.ts';
import type { FeedConnection, Parameter, Queryable } from '../database.ts';
import { isBusy } from './sqlite-connection.ts';

/** How often the file is checked for commits of other processes. A check costs 2 microseconds. */
const POLL_MS = 20;

/** The connection a {@link SqliteFeed} reads through. */
export interface SqliteFeedSource extends Queryable {
  /** A number that changes when another connection has committed. Throws when the file cannot be read. */
  dataVersion(): number;
  /** Ends what was opened for this feed. */
  close(): void;
}

/**
 * The follower's session on SQLite. Commits of this process wake it through {@link SqliteFeed.wake}, those of other
 * processes through a poll of the file's data version.
 */
export class SqliteFeed implements FeedConnection {
  readonly #source: SqliteFeedSource;
  readonly #onClose: (feed: SqliteFeed) => void;
  readonly #timer: Timer;
  #version: number;
  #onWake: () => void = () => {};
  #onLost: ((cause: Error) => void) | undefined;
  #lostCause: Error | undefined;
  #isOpen = true;

  /** `onClose` is called once when the session has ended for any reason. */
  constructor(source: SqliteFeedSource, onClose: (feed: SqliteFeed) => void) {
    this.#source = source;
    this.#onClose = onClose;
    this.#version = source.dataVersion();
    this.#timer = setInterval(() => this.#poll(), POLL_MS);
    this.#timer.unref();
  }

  async query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    if (!this.#isOpen) throw new StorageError('The session to the log has ended.');
    try {
      return await this.#source.query<Row>(text, parameters);
    } catch (error) {
      // A failed read means a damaged or lost file: streams can no longer be promised every change.
      this.#lose(error);
      throw error;
    }
  }

  async head(): Promise<{ epoch: string; seq: number; pushed: boolean }> {
    const [row] = await this.query<{ epoch: string; seq: number }>(
      'SELECT epoch, seq FROM feed WHERE id = 1',
    );
    if (row === undefined) throw new StorageError('The database has lost the position of its log.');
    return { ...row, pushed: true };
  }

  onWake(callback: () => void): void {
    this.#onWake = callback;
  }

  onLost(callback: (cause: Error) => void): void {
    this.#onLost = callback;
    if (this.#lostCause !== undefined) callback(this.#lostCause);
  }

  /** Reports a commit of this process. */
  wake(): void {
    if (this.#isOpen) this.#onWake();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#timer);
    this.#onClose(this);
    this.#source.close();
  }

  #poll(): void {
    try {
      const version = this.#source.dataVersion();
      if (version === this.#version) return;
      this.#version = version;
      this.#onWake();
    } catch (error) {
      // Another process is recovering the file; the next poll will see the result.
      if (!isBusy(error)) this.#lose(error);
    }
  }

  #lose(error: unknown): void {
    if (!this.#isOpen) return;
    this.#lostCause =
      error instanceof Error ? error : new StorageError('The log cannot be read.', { cause: error });
    this.close();
    this.#onLost?.(this.#lostCause);
  }
}
