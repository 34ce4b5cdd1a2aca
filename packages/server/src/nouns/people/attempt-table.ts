import { CLOCK_TOLERANCE_MS } from '../../domain/clock.ts';
import { likeText } from '../../storage/search.ts';
import type { Store } from '../../storage/store.ts';
import type { UnloggedTx } from '../../storage/tx.ts';

/** An account or address whose failed sign-ins are counted. */
export interface AttemptBucket {
  readonly name: string;
  /** Failures allowed within the window; without a limit they are only counted. */
  readonly limit?: number;
}

/** When failures are counted. */
export interface AttemptWindow {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly windowMs: number;
}

/** The result of counting an attempt: the failures of each bucket by name, or which of them is full and until when. */
export type Reservation =
  | { readonly failures: ReadonlyMap<string, number> }
  | { readonly full: string; readonly fullUntil: number };

/** Thrown through a transaction to undo it: a bucket takes no more. */
class Full {
  readonly bucket: string;
  readonly until: number;

  constructor(bucket: string, until: number) {
    this.bucket = bucket;
    this.until = until;
  }
}

/**
 * Counts one failure in each bucket before the attempt, so that simultaneous attempts cannot pass the limit together. When a
 * bucket is full nothing is counted, and the time is returned at which it starts again.
 */
export async function takeAttempt(
  store: Pick<Store, 'unlogged'>,
  buckets: readonly AttemptBucket[],
  window: AttemptWindow,
): Promise<Reservation> {
  // In order, so that two attempts never wait for each other.
  const ordered = buckets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  try {
    const failures = await store.unlogged(async (tx) => {
      const counts = new Map<string, number>();
      for (const bucket of ordered) counts.set(bucket.name, await count(tx, bucket, window));
      return counts;
    });
    return { failures };
  } catch (error) {
    if (error instanceof Full) return { full: error.bucket, fullUntil: error.until };
    throw error;
  }
}

/** Whether the window of a count has ended, or began later than a right clock could say. */
const IS_OVER = '(sign_in_failures.since <= $3 OR sign_in_failures.since > $5)';

/** Counts one failure. The row's lock orders attempts at the same moment; the WHERE refuses what is too many. */
async function count(
  tx: UnloggedTx,
  { name, limit = Number.MAX_SAFE_INTEGER }: AttemptBucket,
  { now, windowMs }: AttemptWindow,
): Promise<number> {
  const [counted] = await tx.query<{ failures: number }>(
    `INSERT INTO sign_in_failures (bucket, failures, since) VALUES ($1, 1, $2)
      ON CONFLICT (bucket) DO UPDATE SET
        failures = CASE WHEN ${IS_OVER} THEN 1 ELSE sign_in_failures.failures + 1 END,
        since = CASE WHEN ${IS_OVER} THEN $2 ELSE sign_in_failures.since END
      WHERE ${IS_OVER} OR sign_in_failures.failures < $4
      RETURNING failures`,
    [name, now, now - windowMs, limit, now + CLOCK_TOLERANCE_MS],
  );
  if (counted !== undefined) return counted.failures;

  const text = 'SELECT since FROM sign_in_failures WHERE bucket = $1';
  const [full] = await tx.query<{ since: number }>(text, [name]);
  throw new Full(name, (full?.since ?? now) + windowMs);
}

/** Removes one failure from each bucket, after an attempt that succeeded. */
export async function storeSuccess(tx: UnloggedTx, buckets: readonly string[]): Promise<void> {
  // In order, as they are counted.
  for (const bucket of buckets.toSorted()) {
    await tx.query('UPDATE sign_in_failures SET failures = failures - 1 WHERE bucket = $1 AND failures > 0', [
      bucket,
    ]);
  }
}

/** Forgets the failed sign-ins of this bucket, and of those whose name continues it after an `@`. */
export async function removeFailures(tx: UnloggedTx, bucket: string): Promise<void> {
  await tx.query(String.raw`DELETE FROM sign_in_failures WHERE bucket = $1 OR bucket LIKE $2 ESCAPE '\'`, [
    bucket,
    `${likeText(bucket)}@%`,
  ]);
}
