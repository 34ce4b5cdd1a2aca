import type { Cursor, LogSession, LogSource, Snapshot } from '../../domain/change-log.ts';
import { precedes } from '../../domain/epoch.ts';
import { StoreOutage } from '../../domain/errors.ts';

/** The log does not continue from this node's cursor; the node must reload a snapshot. */
export class HistoryBrokenError extends Error {
  override readonly name = 'HistoryBrokenError';

  constructor(problem: string, options?: ErrorOptions) {
    super(`the change log does not continue here: ${problem}`, options);
  }
}

/** What a {@link HistoryCheck} needs of its follower. */
export interface HistoryCheckOptions {
  readonly source: LogSource;
  /** How long a copy may lack a row that was applied before the database that it copies is asked for it, in milliseconds. */
  readonly patienceMs: number;
}

/**
 * `held`: the log continues there. `awaited`: a copy does not have the row yet. `lost`: the log is shorter, or has another change
 * at its place, or lacks the epoch. `pruned`: the row was removed. `foreign`: an epoch that has ended.
 */
type PlaceInLog = 'held' | 'awaited' | 'lost' | 'pruned' | 'foreign';

/** Decides whether a follower may continue with the log of a new session, or which snapshot it must load first. */
export class HistoryCheck {
  readonly #options: HistoryCheckOptions;
  /** Since when the log is a copy that lacks the row of the cursor. */
  #awaitedSince: number | undefined;

  constructor(options: HistoryCheckOptions) {
    this.#options = options;
  }

  /**
   * The snapshot to load before rows of the session are applied; `undefined` where its log continues after `cursor`, the last
   * row that was applied. Rejects with `StoreOutage` while the source would take the follower back. (Spec: S14.12)
   */
  async snapshotFor(
    session: LogSession,
    { cursor, mustReload }: { readonly cursor: Cursor | undefined; readonly mustReload: boolean },
  ): Promise<Snapshot | undefined> {
    const { source } = this.#options;
    const place = cursor && (source.beginEpochAfter || !mustReload) && (await find(session, cursor));
    if (place === 'held' && !mustReload) return undefined;

    if (cursor !== undefined && place === 'awaited') await this.#awaitCopy(cursor);
    this.#awaitedSince = undefined;
    if (cursor !== undefined && place === 'lost') await source.beginEpochAfter?.(cursor);

    const snapshot = await session.snapshot();
    const { cursor: loaded } = snapshot;

    // Readers of one address are never taken back within a history. A copy may not have the epoch yet that began after a
    // lost row. Asked again: since the first look, rows may have been lost and others have taken their places.
    const isSame = loaded.epoch === cursor?.epoch;
    const isLost = isSame && (place === 'lost' || (place && (await find(session, cursor)) === 'lost'));
    if (isSame && (isLost || loaded.seq < cursor.seq))
      throw new StoreOutage(`the source ends at row ${loaded.seq}, and lacks row ${cursor.seq} of this node`);

    // Nor to an earlier history. A relay cannot judge: its upstream has compared what it gives with the relay's proof.
    const isOther = cursor !== undefined && !isSame;
    if (isOther && source.beginEpochAfter && !precedes(cursor.epoch, loaded.epoch))
      throw new StoreOutage(`the source has an earlier history than row ${cursor.seq} of this node`);

    // During a failover the session and the snapshot may be of two servers. No id: the log's end has been removed.
    if (loaded.changeId !== '' && (await find(session, loaded)) !== 'held')
      throw new HistoryBrokenError(`row ${loaded.seq} of the snapshot differs from the log`);

    return snapshot;
  }

  /** A copy lacks a row that was applied. If it still does after a while, the database itself may have lost that row. */
  async #awaitCopy(cursor: Cursor): Promise<never> {
    const { source, patienceMs } = this.#options;
    this.#awaitedSince ??= performance.now();
    if (performance.now() - this.#awaitedSince >= patienceMs) await source.beginEpochAfter?.(cursor);
    throw new StoreOutage(`the standby does not have row ${cursor.seq} of this history yet`);
  }
}

/** Looks for a cursor in the session's log. */
async function find(session: LogSession, cursor: Cursor): Promise<PlaceInLog> {
  const { epoch, seq, changeId, isCopy } = await session.head(cursor.seq);
  if (epoch !== cursor.epoch && precedes(cursor.epoch, epoch)) return 'foreign';
  if (epoch !== cursor.epoch || seq < cursor.seq) return isCopy ? 'awaited' : 'lost';
  if (changeId === undefined) return 'pruned';
  return changeId === cursor.changeId ? 'held' : 'lost';
}
