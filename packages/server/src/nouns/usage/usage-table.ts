import { CLOCK_TOLERANCE_MS, HOUR_MS } from '../../domain/clock.ts';
import { StoreOutage } from '../../domain/errors.ts';
import {
  type EnvironmentUsage,
  USAGE_OUTCOMES,
  USAGE_RETENTION,
  type UsageOutcome,
  type UsageStore,
} from '../../domain/usage.ts';
import {
  CommitUncertainError,
  type Database,
  type Parameter,
  type Queryable,
} from '../../storage/database.ts';
import { insertRows, placeholders } from '../../storage/rows.ts';

const DAY_MS = 24 * HOUR_MS;

/**
 * Reads of one flag and outcome that are counted in an hour; more stay at this. Anyone with a key can report any count, and a
 * larger number is inexact here, and one beyond 63 bits an error on PostgreSQL, which would keep all others from being stored.
 */
const MOST_READS = Number.MAX_SAFE_INTEGER;

/** Rows that one step of pruning removes; short transactions let writers in between. */
const PRUNE_STEP = 5_000;

/**
 * The reads of a table in existing environments of a project up to the hour $2, since each was made: one that was made again has
 * its old id. When one from the future was made is not known.
 */
const readsIn = (table: string) => `${table} JOIN environments ON environments.id = environment_id
  WHERE environments.project_id = $1 AND deleted_at IS NULL AND hour <= $2
    AND (hour > environments.created_at - ${HOUR_MS} OR environments.created_at > $2)`;

/** The reads of a flag in one environment within one hour. */
export interface HourlyReads {
  readonly environmentId: string;
  /** The start of the hour, in epoch milliseconds. */
  readonly hour: number;
  readonly outcome: UsageOutcome;
  readonly reads: number;
}

/** The last hour in which a flag was read in an environment. */
export interface LastRead {
  readonly environmentId: string;
  readonly flagKey: string;
  /** The start of the hour, in epoch milliseconds. */
  readonly hour: number;
}

/**
 * When the flags of a project were last read, or one of them; in no order. Here and below, hours that lie farther ahead of `now`
 * than clocks may differ are left out: nothing is known of when those reads were.
 */
export function readLastReads(
  db: Queryable,
  projectId: string,
  now: number,
  flagKey?: string,
): Promise<readonly LastRead[]> {
  const one = flagKey === undefined ? '' : 'AND flag_key = $3';
  return db.query<LastRead>(
    `SELECT environment_id AS "environmentId", flag_key AS "flagKey", hour FROM ${readsIn('flag_last_reads')} ${one}`,
    [projectId, now + CLOCK_TOLERANCE_MS, ...(flagKey === undefined ? [] : [flagKey])],
  );
}

/** The reads of one flag from the hour `since` on, in the environments that exist; the oldest first. */
export function readHours(
  db: Queryable,
  { projectId, flagKey }: { readonly projectId: string; readonly flagKey: string },
  { since, now }: { readonly since: number; readonly now: number },
): Promise<readonly HourlyReads[]> {
  return db.query<HourlyReads>(
    `SELECT environment_id AS "environmentId", hour, outcome, reads FROM ${readsIn('flag_usage')}
      AND flag_key = $3 AND hour >= $4 ORDER BY hour`,
    [projectId, now + CLOCK_TOLERANCE_MS, flagKey, since],
  );
}

/** The reads of a flag in all environments within one hour. */
export interface FlagReads {
  readonly flagKey: string;
  /** The start of the hour, in epoch milliseconds. */
  readonly hour: number;
  readonly outcome: UsageOutcome;
  /** Inexact beyond `Number.MAX_SAFE_INTEGER`. */
  readonly reads: number;
}

/** The reads of a few flags from the hour `since` on, since each flag was made, in the environments that exist; the oldest first. */
export function readHoursOf(
  db: Queryable,
  { projectId, flagKeys }: { readonly projectId: string; readonly flagKeys: readonly string[] },
  { since, now }: { readonly since: number; readonly now: number },
): Promise<readonly FlagReads[]> {
  return db.query<FlagReads>(
    `SELECT flag_key AS "flagKey", hour, outcome, sum(CAST(reads AS DOUBLE PRECISION)) AS reads FROM ${readsIn('flag_usage')}
      AND hour >= $3 AND flag_key IN (${placeholders(flagKeys.length, 3)})
      AND hour > (SELECT flags.created_at FROM flags WHERE flags.project_id = $1 AND flags.key = flag_key) - ${HOUR_MS}
      GROUP BY flag_key, hour, outcome ORDER BY hour`,
    [projectId, now + CLOCK_TOLERANCE_MS, since, ...flagKeys],
  );
}

/** Adds up reads, over either engine. */
export class SqlUsageStore implements UsageStore {
  readonly #database: Database;
  readonly #maxRows: number;

  /** Keeps them in `database`, whose schema must be current. */
  constructor(database: Database, maxRows: number = USAGE_RETENTION.rows) {
    this.#database = database;
    this.#maxRows = maxRows;
  }

  async add(usage: readonly EnvironmentUsage[], at: number): Promise<void> {
    const hour = hourOf(at);
    const counts: Parameter[][] = [];
    const lastReads: Parameter[][] = [];

    for (const { environmentId, flags } of usage) {
      for (const [flagKey, ...reads] of flags) {
        lastReads.push([environmentId, flagKey, hour]);
        for (const [index, outcome] of USAGE_OUTCOMES.entries()) {
          const count = reads[index] ?? 0;
          if (count > 0) counts.push([environmentId, flagKey, hour, outcome, Math.min(count, MOST_READS)]);
        }
      }
    }

    // In one order, so that two nodes that count the same flags never wait for each other.
    for (const rows of [counts, lastReads]) rows.sort(byColumns);

    const added = this.#database.transaction(async (tx) => {
      await insertRows(tx, {
        table: 'flag_usage',
        columns: ['environment_id', 'flag_key', 'hour', 'outcome', 'reads'],
        rows: counts,
        suffix: `ON CONFLICT (environment_id, flag_key, hour, outcome)
          DO UPDATE SET reads = CASE WHEN flag_usage.reads > ${MOST_READS} - excluded.reads THEN ${MOST_READS}
            ELSE flag_usage.reads + excluded.reads END`,
      });
      await insertRows(tx, {
        table: 'flag_last_reads',
        columns: ['environment_id', 'flag_key', 'hour'],
        rows: lastReads,
        // Within the hour nothing is written, and an hour of a clock that is a little behind does not count.
        suffix: `ON CONFLICT (environment_id, flag_key)
          DO UPDATE SET hour = excluded.hour WHERE flag_last_reads.hour < excluded.hour
            OR flag_last_reads.hour > excluded.hour + ${HOUR_MS + CLOCK_TOLERANCE_MS}`,
      });
    });
    await added.catch((error: unknown) => this.#requireCommitted(error));
  }

  /** Resolves when the transaction has committed after all: what is added twice counts twice. */
  async #requireCommitted(error: unknown): Promise<void> {
    if (!(error instanceof CommitUncertainError)) throw error;
    const outcome = await error.settle(async () => {
      const known = await error.outcome(this.#database);
      if (known === undefined) throw error;
      return known;
    });
    if (outcome === 'aborted') {
      const message = 'the connection to the database was lost and the reads were not added';
      throw new StoreOutage(message, { cause: error });
    }
  }

  async prune(now: number): Promise<void> {
    const before = await this.#firstKept(now);
    for (;;) {
      const removed = await this.#database.transaction((tx) =>
        tx.query(
          `DELETE FROM flag_usage WHERE hour < $1 AND (environment_id, flag_key, hour, outcome) IN (
            SELECT environment_id, flag_key, hour, outcome FROM flag_usage WHERE hour < $1 LIMIT $2)
            RETURNING hour`,
          [before, PRUNE_STEP],
        ),
      );
      if (removed.length === 0) return;
    }
  }

  /** The first hour that is kept: counted from the newest one, an hour at a time, so that no statement takes long. */
  async #firstKept(now: number): Promise<number> {
    const oldest = hourOf(now - USAGE_RETENTION.days * DAY_MS);
    let rows = 0;
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const [next] = await this.#database.query<{ hour: number; rows: number }>(
        `SELECT hour, count(*) AS rows FROM flag_usage
          WHERE hour = (SELECT max(hour) FROM flag_usage WHERE hour < $1) GROUP BY hour`,
        [before],
      );
      if (next === undefined || next.hour < oldest) return oldest;
      rows += next.rows;
      if (rows > this.#maxRows) return next.hour + HOUR_MS;
      before = next.hour;
    }
  }
}

/** The start of the hour of a time. */
function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

/** By environment and flag. */
function byColumns([a = '', b = '']: readonly Parameter[], [c = '', d = '']: readonly Parameter[]): number {
  const [left, right] = a === c ? [String(b), String(d)] : [String(a), String(c)];
  return left < right ? -1 : left > right ? 1 : 0;
}
