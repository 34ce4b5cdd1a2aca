import pg from 'pg';
import { StorageError } from '../../domain/errors.ts';
import type { FeedConnection, Parameter } from '../database.ts';
import { checkServerVersion, clientConfig, destroy, runQuery, type TimeLimits } from './postgres-client.ts';
import { isRefusal, toStorageError } from './postgres-errors.ts';
import { Turnstile } from './turnstile.ts';

/** The channel on which commits wake the followers. */
export const FEED_CHANNEL = 'halyard_feed';

/** How long connecting and the heartbeat may take: a silent session is found dead within this time. */
const TIMEOUT_MS = 2_000;

/** How long a read of the log may take, of which one row can have 32 MB, as long as its bytes keep coming. */
const READ_LIMITS: TimeLimits = { timeoutMs: 60_000, silenceMs: TIMEOUT_MS };

const HEARTBEAT_LIMITS: TimeLimits = { timeoutMs: TIMEOUT_MS };

const HEAD = `SELECT epoch, seq,
    EXISTS (SELECT 1 FROM pg_listening_channels() AS channel WHERE channel = '${FEED_CHANNEL}') AS "isListening"
  FROM feed WHERE id = 1`;

/** Opens a follower's session. Rejects when the server is out of reach or too old. */
export async function openPostgresFeed(
  url: string,
  onClose: (feed: PostgresFeed) => void,
): Promise<PostgresFeed> {
  const client = new pg.Client({ ...clientConfig(url), connectionTimeoutMillis: TIMEOUT_MS });
  const feed = new PostgresFeed(client, onClose);
  try {
    await client.connect();
    await checkServerVersion(client);
    await feed.listen();
    return feed;
  } catch (error) {
    feed.close();
    throw toStorageError(error);
  }
}

/**
 * The follower's session on PostgreSQL: a separate connection, so that the heartbeat proves the same session that
 * wake-ups arrive on. Any failure ends it at once; it never tries to heal itself.
 */
export class PostgresFeed implements FeedConnection {
  readonly #client: pg.Client;
  readonly #onClose: (feed: PostgresFeed) => void;
  readonly #turnstile = new Turnstile();
  #onWake: () => void = () => {};
  #onLost: ((cause: Error) => void) | undefined;
  #lostCause: Error | undefined;
  #isOpen = true;
  /** The newest `seq` in a notification, and in the last heartbeat. */
  #heardSeq = 0;
  #seenSeq = 0;

  /** Takes over a client that is not connected yet. `onClose` is called once when the session has ended. */
  constructor(client: pg.Client, onClose: (feed: PostgresFeed) => void) {
    this.#client = client;
    this.#onClose = onClose;
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('the server closed the connection')));
    client.on('notification', ({ payload }) => this.#hear(Number(payload)));
  }

  /** Subscribes to wake-ups. A standby refuses that; the session works without them. */
  async listen(): Promise<void> {
    try {
      await this.#run(HEARTBEAT_LIMITS, `LISTEN ${FEED_CHANNEL}`);
    } catch (error) {
      // Refused, for example on a standby: head() reports `pushed: false`, and the follower polls.
      if (!isRefusal(error)) throw error;
    }
  }

  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return this.#runOrLose<Row>(READ_LIMITS, text, parameters);
  }

  async head(): Promise<{ epoch: string; seq: number; pushed: boolean }> {
    const [row] = await this.#runOrLose<{ epoch: string; seq: number; isListening: boolean }>(
      HEARTBEAT_LIMITS,
      HEAD,
    );
    if (row === undefined) throw new StorageError('The database has lost the position of its log.');
    const { epoch, seq, isListening } = row;
    // A pooler may keep our channel on a session that it does not connect us to: what the last heartbeat saw must
    // have been announced by now.
    const isDeaf = this.#seenSeq > this.#heardSeq;
    if (this.#seenSeq === 0) this.#heardSeq = Math.max(this.#heardSeq, seq);
    this.#seenSeq = seq;
    return { epoch, seq, pushed: isListening && !isDeaf };
  }

  onWake(callback: () => void): void {
    this.#onWake = callback;
  }

  onLost(callback: (cause: Error) => void): void {
    this.#onLost = callback;
    if (this.#lostCause !== undefined) callback(this.#lostCause);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    destroy(this.#client);
    this.#onClose(this);
  }

  async #runOrLose<Row>(limits: TimeLimits, text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    try {
      return await this.#run<Row>(limits, text, parameters);
    } catch (error) {
      this.#lose(error);
      throw error;
    }
  }

  #run<Row>(limits: TimeLimits, text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return this.#turnstile.pass(async () => {
      if (!this.#isOpen) throw this.#lostCause ?? new StorageError('The session to the log has ended.');
      const query = { text, ...limits, ...(parameters === undefined ? {} : { parameters }) };
      return runQuery<Row>(this.#client, query);
    });
  }

  #hear(seq: number): void {
    if (!this.#isOpen) return;
    this.#heardSeq = Math.max(this.#heardSeq, seq);
    this.#onWake();
  }

  #lose(error: unknown): void {
    if (!this.#isOpen) return;
    this.#lostCause = error instanceof Error ? error : new Error('the session was lost', { cause: error });
    this.close();
    this.#onLost?.(this.#lostCause);
  }
}
