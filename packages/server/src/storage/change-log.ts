import { defined } from '@halyard/protocol';
import type { Cursor, LogPage, LogRow, LogSource, Snapshot } from '../domain/change-log.ts';
import { CLOCK_TOLERANCE_MS } from '../domain/clock.ts';
import { epochAfter, leapBetween, precedes } from '../domain/epoch.ts';
import { ReadOnlyDatabaseError, StorageError, StoreOutage } from '../domain/errors.ts';
import type { Database, Queryable } from './database.ts';
import { parseOptionalList } from './rows.ts';
import { type RowPlace, SealedHistory } from './sealed-history.ts';

/** How much of the change log is kept at least: followers that slept shorter catch up without a reload. */
export const LOG_RETENTION = { days: 30, rows: 100_000 } as const;

/** Log rows that one step of {@link pruneLog} removes; short transactions let writers in between. */
const PRUNE_STEP = 5_000;

interface StoredRow extends Omit<LogRow, 'environmentId' | 'revision'> {
  readonly environmentId: string | null;
  readonly revision: number | null;
  readonly afterId: string | null;
  readonly epoch: string;
}

/** The limits of one read of the log. A single row may be larger than `bytes`; it is then read alone. */
const PAGE_LIMITS: PageLimits = { rows: 500, bytes: 4 * 1024 * 1024 };

/** Limits of one read, in rows and in bytes of their payloads. */
export interface PageLimits {
  readonly rows: number;
  readonly bytes: number;
}

// Rows whose predecessors in the page have fewer bytes than the limit, so that there is always at least one.
const READ = `SELECT seq, change_id AS "changeId", kind, project_id AS "projectId",
    environment_id AS "environmentId", revision, payload, actor, at,
    (SELECT change_id FROM change_log WHERE seq = $1) AS "afterId",
    (SELECT epoch FROM feed WHERE id = 1) AS epoch
  FROM change_log WHERE seq > $1 AND seq <= (
    SELECT max(seq) FROM (
      SELECT seq, sum(bytes) OVER (ORDER BY seq) - bytes AS bytes_before FROM (
        SELECT seq, octet_length(payload) AS bytes FROM change_log WHERE seq > $1 ORDER BY seq LIMIT $2
      ) AS next_rows
    ) AS sized_rows WHERE bytes_before < $3
  ) ORDER BY seq`;

/**
 * The next rows of the change log after `afterSeq`. The caller checks that the first is `afterSeq + 1`: the rows
 * between may have been pruned.
 */
export async function readLogPage(
  queryable: Queryable,
  afterSeq: number,
  limits: PageLimits = PAGE_LIMITS,
): Promise<LogPage> {
  const stored = await queryable.query<StoredRow>(READ, [afterSeq, limits.rows, limits.bytes]);
  const rows = stored.map(({ environmentId, revision, afterId: _, epoch: __, ...row }) => ({
    ...row,
    ...(environmentId === null ? {} : { environmentId }),
    ...(revision === null ? {} : { revision }),
  }));
  const bytes = rows.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
  const { epoch, afterId } = stored[0] ?? {};
  const isLast = rows.length < limits.rows && bytes < limits.bytes;
  return { rows, isLast, ...defined({ epoch, afterId: afterId ?? undefined }) };
}

/** The change id of row `seq`; `undefined` when the log does not hold that row. */
export async function changeIdAt(queryable: Queryable, seq: number): Promise<string | undefined> {
  const text = 'SELECT change_id AS "changeId" FROM change_log WHERE seq = $1';
  const [row] = await queryable.query<{ changeId: string }>(text, [seq]);
  return row?.changeId;
}

/** The limits of {@link pruneLog}; it removes a row only when both allow it. */
export interface PruneOptions {
  /** Epoch milliseconds; rows from this time on are kept. */
  readonly olderThan: number;
  /** The time by this node's clock; a row from the future does not count as young. */
  readonly now: number;
  /** How many of the newest rows are kept regardless of age; at least one. */
  readonly keepRows: number;
}

/**
 * Removes the oldest rows of the change log, never one that has a kept row before it. Returns how many it removed.
 */
export async function pruneLog(database: Database, options: PruneOptions): Promise<number> {
  const end = await firstKept(database, options);
  let pruned = 0;
  for (;;) {
    const removed = await database.transaction((transaction) =>
      transaction.query(
        `DELETE FROM change_log WHERE seq < $1
          AND seq < (SELECT min(seq) FROM change_log) + $2 RETURNING seq`,
        [end, PRUNE_STEP],
      ),
    );
    pruned += removed.length;
    if (removed.length === 0) return pruned;
  }
}

async function firstKept(database: Database, options: PruneOptions): Promise<number> {
  const [byAge] = await database.query<{ seq: number | null }>(
    'SELECT min(seq) AS seq FROM change_log WHERE at >= $1 AND at <= $2',
    [options.olderThan, options.now + CLOCK_TOLERANCE_MS],
  );
  const [end] = await database.query<{ seq: number }>('SELECT seq FROM feed WHERE id = 1');
  const byCount = (end?.seq ?? 0) - Math.max(options.keepRows, 1) + 1;
  return Math.min(byAge?.seq ?? byCount, byCount);
}

/**
 * Reads everything that reads are served from in one snapshot of the database, so that `cursor` and the rows belong
 * together. Rows are not checked here: the catalog checks each one, so that a damaged row only affects
 * itself.
 */
export function loadSnapshot(database: Database): Promise<Snapshot> {
  return database.snapshot(readAll, 'load');
}

const PROJECTS = `SELECT id, name, CASE WHEN usage_since IS NULL THEN 0 ELSE 1 END AS usage FROM projects`;

interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly usage: number;
}

const RELAYS = 'SELECT id, digest, projects, environments FROM relay_tokens WHERE revoked_at IS NULL';

interface RelayRow {
  readonly id: string;
  readonly digest: string;
  readonly projects: string | null;
  readonly environments: string | null;
}

async function readAll(reader: Queryable): Promise<Snapshot> {
  return {
    cursor: await readCursor(reader),
    projects: (await reader.query<ProjectRow>(PROJECTS)).map(({ usage, ...project }) => ({
      ...project,
      ...(usage === 1 && { usage: true }),
    })),
    environments: await reader.query(
      'SELECT id, project_id AS "projectId", name, revision FROM environments WHERE deleted_at IS NULL',
    ),
    states: await reader.query(
      'SELECT environment_id AS "environmentId", flag_key AS "flagKey", state FROM flag_states',
    ),
    keys: await reader.query(
      `SELECT id, project_id AS "projectId", digest, environments,
        expires_at AS "expiresAt", revoked_at AS "revokedAt" FROM project_keys`,
    ),
    relays: (await reader.query<RelayRow>(RELAYS)).map(({ id, digest, ...scope }) => ({
      id,
      digest,
      ...defined({
        projects: parseOptionalList(scope.projects),
        environments: parseOptionalList(scope.environments),
      }),
    })),
  };
}

async function readCursor(reader: Queryable): Promise<Cursor> {
  const [end] = await reader.query<{ epoch: string; seq: number }>(
    'SELECT epoch, seq FROM feed WHERE id = 1',
  );
  if (end === undefined) {
    throw new StorageError('The database has lost the position of its log: restore it from a backup.');
  }
  return { ...end, changeId: (await changeIdAt(reader, end.seq)) ?? '' };
}

/** Parts of a {@link logSourceOf}. */
export interface LogSourceOptions {
  /** The database that takes writes, if the log is followed in a different one. */
  readonly primary?: Database;
  /** Called when a new epoch has begun because the row `lost` is missing. */
  readonly onEpoch?: (lost: Cursor) => void;
}

/** The log as a database keeps it: sessions and snapshots for the follower, on either engine. */
export function logSourceOf(database: Database, options: LogSourceOptions = {}): LogSource {
  const { primary = database, onEpoch } = options;
  const beginAfter = async (lost: Cursor) => {
    if (await beginEpochAfter(primary, lost)) onEpoch?.(lost);
  };

  const history = new SealedHistory({
    primary,
    placeOf: (row) => placeOf(primary, row),
    beginEpochAfter: beginAfter,
  });

  return {
    history,
    open: async () => {
      const session = await database.openLogSession();
      await history.load(session);
      return {
        snapshot: () => loadSnapshot(database),
        head: async (seq) => ({ ...(await session.head(seq)), ...(seq === 0 && { changeId: '' }) }),
        read: (afterSeq) => readLogPage(session, afterSeq),
        onWake: (callback) => session.onWake(callback),
        onLost: (callback) => session.onLost(callback),
        close: () => session.close(),
      };
    },
    beginEpochAfter: beginAfter,
  };
}

/** Begins a new epoch if the log does not hold `lost`, or has lost its whole epoch. Returns whether it did. */
async function beginEpochAfter(database: Database, lost: Cursor): Promise<boolean> {
  try {
    return await database.transaction(async (transaction) => {
      const { epoch } = await readCursor(transaction);
      if ((await placeOf(transaction, lost)) !== 'missing') return false;

      // As writers do: environments before the end of the log.
      const next = epochAfter([epoch, lost.epoch]);
      await transaction.query('UPDATE environments SET revision = revision + $1, guarded = revision + $1', [
        leapBetween(epoch, next),
      ]);
      const [end] = await transaction.query<{ seq: number }>(
        'UPDATE feed SET epoch = $1 WHERE id = 1 AND epoch = $2 RETURNING seq',
        [next, epoch],
      );

      // What this one waited for was another node that did it, or the commit of the row: a standby can show a row before
      // its primary does. What was raised here is rolled back. (An epoch that was lost does not come back.)
      const isBack =
        lost.epoch === epoch && (await placeOf(transaction, { ...lost, epoch: next })) !== 'missing';
      if (end === undefined || isBack)
        throw new StoreOutage('the log has changed while a new epoch was about to begin');

      transaction.wake();
      return true;
    });
  } catch (error) {
    // A standby: a node that writes to the primary begins the epoch, where there is one.
    if (error instanceof ReadOnlyDatabaseError) return false;
    throw error;
  }
}

async function placeOf(reader: Queryable, { epoch, seq, changeId }: Cursor): Promise<RowPlace> {
  const end = await readCursor(reader);
  if (end.epoch !== epoch) return precedes(epoch, end.epoch) ? 'over' : 'missing';
  if (end.seq < seq) return 'missing';

  const found = await changeIdAt(reader, seq);
  return found === undefined || found === changeId ? 'held' : 'missing';
}
