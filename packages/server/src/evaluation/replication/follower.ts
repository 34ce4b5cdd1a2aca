import { Alarm } from '../../domain/alarm.ts';
import type {
  CommittedRows,
  Cursor,
  LogPage,
  LogRow,
  LogSession,
  LogSource,
  Snapshot,
} from '../../domain/change-log.ts';
import { StoreOutage } from '../../domain/errors.ts';
import { Waiters } from '../../domain/waiters.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { isLarge } from '../catalog/payload-parts.ts';
import { HistoryBrokenError, HistoryCheck } from './history-check.ts';
import { reconnectDelayMs, sleep, Turns, turn } from './pacing.ts';

/** Callbacks of a {@link Follower}. */
export interface FollowerCallbacks {
  /** The catalog is whole and current; streams may be opened. */
  live(): void;
  /** The log is lost: no stream may get another byte. Called in the turn in which it is known. */
  lost(cause: Error): void;
  /**
   * Asked before each row: a promise while too many frames of earlier rows are on their way, which resolves when the
   * next row may be applied.
   */
  room?(): Promise<void> | undefined;
  /** A snapshot has replaced everything; rows after it follow. Must not throw. */
  loaded?(cursor: Cursor): void;
  /** A row has been applied, and its frames are out. Must not throw. */
  applied?(row: LogRow): void;
  /** The catalog was proven current a moment ago. Must not throw. */
  proven?(): void;
  /** Another attempt to reach the log has failed, this many in a row. */
  stillLost(cause: Error, attempts: number): void;
}

/** Parts and timings of a {@link Follower}; the timings have the defaults that the documents state. */
export interface FollowerOptions {
  readonly source: LogSource;
  readonly catalog: Catalog;
  readonly callbacks: FollowerCallbacks;
  /** Milliseconds between two heartbeats while wake-ups arrive. */
  readonly heartbeatMs?: number;
  /** Milliseconds between two polls of the log where wake-ups do not arrive. */
  readonly pollMs?: number;
  /** How long a copy may lack a row that was applied before the database that it copies is asked for it, in milliseconds. */
  readonly patienceMs?: number;
  readonly random?: () => number;
}

/** Options of {@link Follower.restore}. */
export interface RestoreOptions {
  readonly provenAt: number;
  readonly continues: boolean;
}

/** Failed reads at one place of the log after which a snapshot skips it. */
const FAILED_READS = 2;

/**
 * How long reads may have turns while one large row is prepared, in milliseconds. No heartbeat is sent in that time, so it
 * stays well below the age at which a proof ends.
 */
const PREPARE_MS = 1000;

/** Rows of one operation that are applied without a turn of the event loop at most. */
const ROWS_AT_ONCE = 50;

/** Longest a write waits for its own node to have applied it, in milliseconds. */
const APPLY_WAIT_MS = 2000;

/**
 * Keeps one catalog in step with the log: loads a snapshot, then applies row after row, cursor + 1 or not at all.
 * Wake-ups are only hints; the log is the truth, and a heartbeat on the same session proves that nothing was
 * missed. When the session fails, `lost` is called at once, and the follower retries until it is closed.
 */
export class Follower {
  readonly #options: Required<FollowerOptions>;
  readonly #historyCheck: HistoryCheck;
  readonly #waiters = new Waiters();
  readonly #closed = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  #retry = Promise.withResolvers<void>();
  #state: 'starting' | 'live' | 'lost' | 'closed' = 'starting';
  #cursor: Cursor | undefined;
  #mustReload = false;
  /** Whether pages of the log are being read and applied. */
  #isReading = false;
  /** How often the log could not be read after this row. */
  #failedReads = { afterSeq: -1, count: 0 };
  #session: LogSession | undefined;
  #alarm: Alarm | undefined;
  #provenAt = Number.NEGATIVE_INFINITY;
  #attempt = 0;
  #lostCause: Error | undefined;

  constructor(options: FollowerOptions) {
    this.#options = { heartbeatMs: 1000, pollMs: 200, patienceMs: 5000, random: Math.random, ...options };
    this.#historyCheck = new HistoryCheck(this.#options);
  }

  /** Whether the catalog is current and every change will be seen. */
  get isLive(): boolean {
    return this.#state === 'live';
  }

  /** Why the log is lost; `undefined` while it is followed. */
  get lostCause(): Error | undefined {
    return this.#lostCause;
  }

  /** Whether a snapshot has been loaded, however old it is. */
  get hasSnapshot(): boolean {
    return this.#cursor !== undefined;
  }

  /** The position of the catalog in the log; `undefined` before any snapshot. */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  /** The last change-log row applied. */
  get seq(): number {
    return this.#cursor?.seq ?? 0;
  }

  /** Milliseconds since the session last proved that the catalog is current; `Infinity` before the first time. */
  sinceProofMs(): number {
    return performance.now() - this.#provenAt;
  }

  /**
   * Starts from a snapshot that was current at `provenAt`, on this process's monotonic clock; before {@link run}.
   * `continues`: whether rows may follow it; otherwise the source is asked for a whole snapshot first.
   */
  restore(snapshot: Snapshot, { provenAt, continues }: RestoreOptions): void {
    const { cursor, ...contents } = snapshot;
    this.#options.catalog.load(contents);
    this.#mustReload = !continues;
    this.#provenAt = provenAt;
    this.#advance(cursor);
    this.#options.callbacks.loaded?.(cursor);
  }

  /** Follows until `close` is called; resolves then. */
  async run(): Promise<void> {
    while (this.#state !== 'closed') {
      let askedMs: number | undefined;
      try {
        await this.#followOneSession();
      } catch (cause) {
        if (cause instanceof StoreOutage) askedMs = cause.retryAfterMs;
        if (cause instanceof HistoryBrokenError) this.#mustReload = true;
        this.#fail(cause instanceof Error ? cause : new Error(String(cause)));
      }
      const delayMs = reconnectDelayMs(this.#attempt++, this.#options.random, askedMs);
      this.#retry = Promise.withResolvers();
      // Ends early when the follower is closed.
      await Promise.race([sleep(delayMs), this.#retry.promise, this.#closed.promise]);
    }
  }

  /** Ends the pause before the next attempt to reach the log: its source says that it is back. */
  retry(): void {
    this.#retry.resolve();
  }

  /** Waits until row `seq` has been applied here, at most two seconds: a writer reads its own write. */
  waitForApplied(seq: number): Promise<void> {
    return this.#waiters.until(() => this.seq >= seq, APPLY_WAIT_MS);
  }

  /** Stops following. Safe to call twice. */
  close(): void {
    this.#state = 'closed';
    this.#session?.close();
    this.#alarm?.fail(new Error('the follower was closed'));
    this.#closing.abort();
    this.#closed.resolve();
  }

  /** Lives as long as one session does. Ends by rejecting, or because the follower was closed. */
  async #followOneSession(): Promise<void> {
    const { signal } = this.#closing;
    const session = await this.#options.source.open(this.#cursor, { mustReload: this.#mustReload, signal });
    if (signal.aborted) {
      session.close();
      return;
    }

    this.#session = session;
    const alarm = new Alarm();
    this.#alarm = alarm;

    session.onWake((committed) => this.#wake(alarm, committed));
    session.onLost((cause) => {
      // At once, because streams are open. A failure while the log is already lost is reported when the attempt ends.
      if (this.#state !== 'lost') this.#fail(cause);
      alarm.fail(cause);
    });

    try {
      await this.#joinHistory(session);
      while (this.#state !== 'closed') {
        const pushed = await this.#heartbeat(session);
        const { heartbeatMs, pollMs } = this.#options;
        const nextHeartbeat = performance.now() + (pushed ? heartbeatMs : pollMs);
        while (await alarm.wait(nextHeartbeat)) await this.#drain(session);
      }
    } finally {
      session.close();
    }
  }

  /** Continues from the cursor if the log still has it; otherwise loads a snapshot. */
  async #joinHistory(session: LogSession): Promise<void> {
    const snapshot = await this.#historyCheck.snapshotFor(session, {
      cursor: this.#cursor,
      mustReload: this.#mustReload,
    });
    if (snapshot === undefined) return;

    const { cursor, ...contents } = snapshot;
    const turns = new Turns();
    for (const _ of this.#options.catalog.loading(contents)) {
      if (this.#closing.signal.aborted) return;
      await turns.next();
    }

    this.#mustReload = false;
    this.#failedReads = { afterSeq: -1, count: 0 };
    this.#advance(cursor);
    this.#options.callbacks.loaded?.(cursor);
  }

  /**
   * Applies what this process has just committed if it is short and follows what is applied; anything else is read from
   * the log.
   */
  #wake(alarm: Alarm, committed: CommittedRows | undefined): void {
    const isShort =
      committed !== undefined && committed.rows.length <= ROWS_AT_ONCE && !committed.rows.some(isLarge);
    const rows = isShort && this.#isNext(committed.after) ? committed.rows : [];
    let applied = 0;
    try {
      for (; applied < rows.length && this.#options.callbacks.room?.() === undefined; applied++) {
        // `LogRow`: `applied` is below the length.
        this.#apply(rows[applied] as LogRow);
      }
    } catch (cause) {
      alarm.fail(cause instanceof Error ? cause : new Error(String(cause)));
    }
    if (applied === 0 || applied < rows.length) alarm.ring();
  }

  /** Whether what follows `after` may be applied at once: no page is on its way that may hold the same rows. */
  #isNext({ epoch, seq, changeId }: Cursor): boolean {
    const cursor = this.#cursor;
    if (this.#state !== 'live' || this.#isReading || cursor === undefined) return false;
    return cursor.epoch === epoch && cursor.seq === seq && cursor.changeId === changeId;
  }

  /** Asks where the log ends, applies what is missing, and notes that all was well when the question was asked. */
  async #heartbeat(session: LogSession): Promise<boolean> {
    const askedAt = performance.now();
    // As it was when asked: rows that this process commits in between may be newer than the answer.
    const cursor = this.#cursor;
    const head = await session.head(cursor?.seq);
    if (cursor === undefined || head.epoch !== cursor.epoch || head.seq < cursor.seq) {
      throw new HistoryBrokenError(
        `the log ends at ${head.seq} of a different history than row ${cursor?.seq}`,
      );
    }
    // A session through a pooler may outlive a failover: then its log has other rows than those that were applied.
    this.#checkId(cursor, head.changeId);
    if (head.seq > this.seq) await this.#drain(session);
    if (head.seq > this.seq) throw new HistoryBrokenError(`its rows after row ${this.seq} were removed`);
    this.#alarm?.throwIfFailed();
    this.#provenAt = head.provenAt ?? askedAt;
    this.#becomeLive();
    this.#noteProof(this.#provenAt);
    return head.pushed;
  }

  /** `found`: the change id at the cursor's place; `undefined` where that was pruned. */
  #checkId({ seq, changeId }: Cursor, found: string | undefined): void {
    if (found !== undefined && found !== changeId)
      throw new HistoryBrokenError(`row ${seq} has changed since it was applied`);
  }

  #noteProof(provenAt: number): void {
    this.#provenAt = provenAt;
    if (this.#state === 'live') this.#options.callbacks.proven?.();
  }

  /** Applies every row after the cursor, in order, and lets the event loop turn where there are many. */
  async #drain(session: LogSession): Promise<void> {
    this.#isReading = true;
    try {
      await this.#applyPages(session);
    } finally {
      this.#isReading = false;
    }
  }

  async #applyPages(session: LogSession): Promise<void> {
    for (;;) {
      const { epoch, rows, isLast, provenAt, afterId } = await this.#read(session);
      if (this.#cursor !== undefined) {
        this.#checkId(this.#cursor, afterId);
        if (epoch !== undefined && epoch !== this.#cursor.epoch)
          throw new HistoryBrokenError(`row ${this.#cursor.seq} is followed by rows of a different history`);
      }

      const turns = new Turns();
      for (const row of rows) {
        await turns.next();
        await this.#prepare(row, turns);
        const room = this.#options.callbacks.room?.();
        if (room !== undefined) await room;

        // Once it is closed or its session is lost, it must not send another byte. (Spec: S6.5)
        this.#alarm?.throwIfFailed();
        this.#apply(row);
      }

      if (provenAt !== undefined && this.#state === 'live') this.#noteProof(provenAt);
      if (isLast) return;
      await turn();
    }
  }

  /** The work of a large row before it is applied; nothing of it shows yet. */
  async #prepare(row: LogRow, turns: Turns): Promise<void> {
    // Otherwise it is refused when it is applied.
    if (row.seq !== this.seq + 1) return;
    const deadline = performance.now() + PREPARE_MS;
    try {
      for (const _ of this.#options.catalog.prepare(row) ?? []) {
        if (performance.now() > deadline) continue;
        await turns.next();
        this.#alarm?.throwIfFailed();
      }
    } catch (cause) {
      this.#alarm?.throwIfFailed();
      throw new HistoryBrokenError(`row ${row.seq} cannot be applied`, { cause });
    }
  }

  /** After two failures at one place, too large for the link or damaged, the next attempt loads a snapshot. */
  async #read(session: LogSession): Promise<LogPage> {
    try {
      return await session.read(this.seq);
    } catch (error) {
      const count = this.#failedReads.afterSeq === this.seq ? this.#failedReads.count + 1 : 1;
      this.#failedReads = { afterSeq: this.seq, count };
      if (count >= FAILED_READS) this.#mustReload = true;
      throw error;
    }
  }

  #apply(row: LogRow): void {
    const cursor = this.#cursor;
    if (cursor === undefined) throw new Error('a row was applied before any snapshot');
    if (row.seq !== cursor.seq + 1) throw new HistoryBrokenError(`row ${row.seq} follows row ${cursor.seq}`);
    try {
      this.#options.catalog.apply(row);
    } catch (cause) {
      // It may be applied in part: no row may follow it, also if the session ends for another reason first.
      this.#mustReload = true;
      throw new HistoryBrokenError(`row ${row.seq} cannot be applied`, { cause });
    }
    this.#advance({ ...cursor, seq: row.seq, changeId: row.changeId });
    this.#options.callbacks.applied?.(row);
  }

  #advance(cursor: Cursor): void {
    this.#cursor = cursor;
    this.#waiters.check();
  }

  #becomeLive(): void {
    this.#attempt = 0;
    if (this.#state === 'live' || this.#state === 'closed') return;
    this.#state = 'live';
    this.#lostCause = undefined;
    this.#options.callbacks.live();
  }

  #fail(cause: Error): void {
    if (this.#state === 'closed') return;
    const wasLost = this.#state === 'lost';
    this.#state = 'lost';
    this.#lostCause = cause;
    // A lost session fails twice: through its callback, and when its attempt ends for the same cause.
    if (wasLost && this.#attempt > 0) this.#options.callbacks.stillLost(cause, this.#attempt);
    else if (!wasLost) this.#options.callbacks.lost(cause);
  }
}
