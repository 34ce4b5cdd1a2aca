import { CLOCK_TOLERANCE_MS } from '../domain/clock.ts';
import {
  type AttemptBucket,
  type AttemptWindow,
  type Invitation,
  type PeopleStore,
  type Reservation,
  SESSION_LIFETIME,
  type Session,
  SIGN_ON_MS,
} from '../domain/rights.ts';
import type { Database, WriteTransaction } from './database.ts';
import { insertInvitation } from './people.ts';

/** How long links that have ended are kept, in milliseconds. */
const ENDED_LINKS_MS = 30 * 86_400_000;

/** Thrown through a transaction to undo it: a bucket takes no more. */
class Full {
  readonly bucket: string;
  readonly until: number;

  constructor(bucket: string, until: number) {
    this.bucket = bucket;
    this.until = until;
  }
}

/** Writes about people outside the log, on either engine. */
export class SqlPeopleStore implements PeopleStore {
  readonly #database: Database;

  /** Writes to `database`, whose schema must be current. */
  constructor(database: Database) {
    this.#database = database;
  }

  async reserveAttempt(buckets: readonly AttemptBucket[], window: AttemptWindow): Promise<Reservation> {
    // In order, so that two attempts never wait for each other.
    const ordered = buckets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    try {
      const failures = await this.#database.transaction(async (transaction) => {
        const counts = new Map<string, number>();
        for (const bucket of ordered) counts.set(bucket.name, await reserve(transaction, bucket, window));
        return counts;
      });
      return { failures };
    } catch (error) {
      if (error instanceof Full) return { full: error.bucket, fullUntil: error.until };
      throw error;
    }
  }

  async refundAttempt(buckets: readonly string[]): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      // In order, as they are reserved.
      for (const bucket of buckets.toSorted()) {
        await transaction.query(
          'UPDATE sign_in_failures SET failures = failures - 1 WHERE bucket = $1 AND failures > 0',
          [bucket],
        );
      }
    });
  }

  async touchSession({ digest, operatorId }: Session, at: number): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await transaction.query(
        'UPDATE sessions SET last_used_at = $2 WHERE digest = $1 AND last_used_at < $2',
        [digest, at],
      );
      await transaction.query(
        `UPDATE operators SET last_seen_at = $2
          WHERE id = $1 AND (last_seen_at IS NULL OR last_seen_at < $2 OR last_seen_at > $3)`,
        [operatorId, at, at + CLOCK_TOLERANCE_MS],
      );
    });
  }

  async offerSetup(invitation: Invitation, digest: string): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await transaction.query(
        `UPDATE invitations SET revoked_at = $1
          WHERE kind = 'setup' AND created_by = $2 AND used_at IS NULL AND revoked_at IS NULL`,
        [invitation.createdAt, invitation.createdBy],
      );
      await insertInvitation(transaction, invitation, digest);
    });
  }

  async prune(now: number, windowMs: number): Promise<void> {
    const { idleMs, absoluteMs } = SESSION_LIFETIME;
    await this.#database.transaction(async (transaction) => {
      await transaction.query('DELETE FROM sessions WHERE last_used_at <= $1 OR created_at <= $2', [
        now - idleMs,
        now - absoluteMs,
      ]);
      await transaction.query('DELETE FROM sign_in_failures WHERE since <= $1', [now - windowMs]);
      // Twice as long as one is accepted, as the clocks of two nodes may differ.
      await transaction.query('DELETE FROM used_sign_ons WHERE at <= $1', [now - 2 * SIGN_ON_MS]);
      await transaction.query('DELETE FROM invitations WHERE expires_at <= $1', [now - ENDED_LINKS_MS]);
    });
  }
}

/** Whether the window of a count has ended, or began later than a right clock could say. */
const IS_OVER = '(sign_in_failures.since <= $3 OR sign_in_failures.since > $5)';

/** Counts one failure. The row's lock orders attempts at the same moment; the WHERE refuses what is too many. */
async function reserve(
  transaction: WriteTransaction,
  { name, limit = Number.MAX_SAFE_INTEGER }: AttemptBucket,
  { now, windowMs }: AttemptWindow,
): Promise<number> {
  const [counted] = await transaction.query<{ failures: number }>(
    `INSERT INTO sign_in_failures (bucket, failures, since) VALUES ($1, 1, $2)
      ON CONFLICT (bucket) DO UPDATE SET
        failures = CASE WHEN ${IS_OVER} THEN 1 ELSE sign_in_failures.failures + 1 END,
        since = CASE WHEN ${IS_OVER} THEN $2 ELSE sign_in_failures.since END
      WHERE ${IS_OVER} OR sign_in_failures.failures < $4
      RETURNING failures`,
    [name, now, now - windowMs, limit, now + CLOCK_TOLERANCE_MS],
  );
  if (counted !== undefined) return counted.failures;
  const [full] = await transaction.query<{ since: number }>(
    'SELECT since FROM sign_in_failures WHERE bucket = $1',
    [name],
  );
  throw new Full(name, (full?.since ?? now) + windowMs);
}
