import type { Queryable } from './database.ts';

/** How often a primary is marked, in milliseconds. */
const BEAT_MS = 1000;

/**
 * Commits a message to the log of a primary, which nothing reads, and only while a standby streams from it. An ordinary role sees that
 * there is one, and no more. About 120 bytes of the write-ahead log, and no table.
 */
const BEAT = `SELECT pg_logical_emit_message(true, 'halyard', '')::text
  WHERE NOT pg_is_in_recovery() AND EXISTS (SELECT 1 FROM pg_stat_replication)`;

/**
 * Marks the primary once a second, so that nodes on its standbys can tell peace from silence: a standby shows the mark only while
 * the link works and everything before it has arrived. (storage/engines/standby-proof.ts)
 */
export class PrimaryBeat {
  readonly #database: Queryable;
  readonly #timer: Timer;
  #isBeating = false;

  /** Begins at once. `database`: one on PostgreSQL. */
  constructor(database: Queryable) {
    this.#database = database;
    this.#timer = setInterval(() => void this.#beat(), BEAT_MS);
    this.#timer.unref();
    void this.#beat();
  }

  /** Stops. Safe to call twice. */
  close(): void {
    clearInterval(this.#timer);
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    try {
      await this.#database.query(BEAT);
    } catch {
      // The follower reports an outage; without a mark the nodes on standbys say that they are not current.
    } finally {
      this.#isBeating = false;
    }
  }
}
