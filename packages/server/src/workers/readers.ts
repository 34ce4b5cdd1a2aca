import type { LogRow } from '../domain/change-log.ts';
import type { DeliveryProgress } from '../domain/delivery.ts';
import type { OpenStreams, ReadSide } from '../domain/read-side.ts';
import { Waiters } from '../domain/waiters.ts';
import { DeliverySums } from './delivery-sums.ts';
import type { KeyCounts, StreamCounts, WorkerReport } from './messages.ts';

/** Longest a write waits for a worker that answers but does not follow the log, in milliseconds. */
const APPLY_WAIT_MS = 5000;

/** Observes the readers of a machine, as if they were one process. */
export interface ReadersObserver {
  live?(seq: number): void;
  lost?(): void;
  /** Every process has applied this row. */
  applied?(row: LogRow): void;
  /** More streams of the machine have taken a change. */
  progressed?(progress: DeliveryProgress): void;
  /** A stream of the supervisor has ended; workers count their own. */
  streamClosed?(cause: string): void;
  malformed?(record: { readonly kind: 'flag' | 'key'; readonly id: string }): void;
}

/** One worker that serves reads. */
interface Member {
  applied: number;
  streams: StreamCounts;
  readonly usedKeys: () => Promise<readonly string[]>;
}

/** The supervisor among the members. */
const OWN = 0;

/**
 * Adds up the processes of a machine that serve reads: the supervisor's own read plane, which has the streams of
 * people, and the workers.
 */
export class Readers implements ReadSide {
  /** The open streams of all processes. */
  readonly streams: OpenStreams;
  /** Observes the supervisor's own read plane. */
  readonly own: ReadersObserver;
  readonly #plane: ReadSide;
  readonly #members = new Map<number, Member>();
  readonly #observers: ReadersObserver[] = [];
  readonly #sums: DeliverySums;
  /** Rows that the supervisor has applied and a worker has not, in order. */
  readonly #rows: LogRow[] = [];
  readonly #waiters = new Waiters();
  /** Keys that were used in workers that have ended since. */
  readonly #leftKeys = new Set<string>();
  #ownSeq = 0;
  #turnover = 0;

  constructor(plane: ReadSide) {
    this.#plane = plane;
    this.#sums = new DeliverySums((progress) => this.#notify((observer) => observer.progressed?.(progress)));

    const [turnover, size] = [() => this.#turnover, () => this.#countStreams()];
    this.streams = {
      get size() {
        return size() + plane.streams.size;
      },
      get turnover() {
        return turnover() + plane.streams.turnover;
      },
      streamsByKey: () => this.#addStreams(),
    };

    this.own = {
      live: (seq) => this.#onLive(seq),
      lost: () => {
        this.#forgetRows();
        this.#notify((observer) => observer.lost?.());
      },
      applied: (row) => {
        this.#ownSeq = row.seq;
        this.#rows.push(row);
        this.#advance();
      },
      progressed: (progress) => this.#sums.note(OWN, progress),
      streamClosed: (cause) => this.#notify((observer) => observer.streamClosed?.(cause)),
      malformed: (record) => this.#notify((observer) => observer.malformed?.(record)),
    };
  }

  /** Adds an observer, called after the earlier ones. */
  observe(observer: ReadersObserver): void {
    this.#observers.push(observer);
  }

  /** A worker is about to listen: from now on no write is answered before it has applied it. */
  join(worker: number, applied: number, usedKeys: () => Promise<readonly string[]>): void {
    this.#members.set(worker, { applied, streams: [], usedKeys });
  }

  /** A worker has news. */
  report(worker: number, { applied, progress = [], streams }: WorkerReport): void {
    const member = this.#members.get(worker);
    if (member === undefined) return;
    for (const each of progress) this.#sums.note(worker, each);
    if (streams !== undefined) {
      member.streams = streams;
      this.#turnover++;
    }
    if (applied === undefined) return;
    member.applied = applied;
    this.#advance();
  }

  /** A worker has ended, and its streams with it. `usedKeys`: those that it had not been asked for. */
  leave(worker: number, usedKeys: readonly string[] = []): void {
    for (const id of usedKeys) this.#leftKeys.add(id);
    if (!this.#members.delete(worker)) return;
    this.#turnover++;
    this.#sums.leave(worker);
    this.#advance();
  }

  /** The streams of one worker by key, over all environments. */
  streamsOf(worker: number): KeyCounts {
    return addByKey(this.#members.get(worker)?.streams ?? []);
  }

  /**
   * Waits until each worker has applied row `seq` or has ended. A worker that does not answer is ended by the fleet;
   * for one that answers and does not follow the log, a write waits five seconds.
   */
  async waitForApplied(seq: number): Promise<void> {
    await this.#plane.waitForApplied(seq);
    await this.#waiters.until(() => this.#haveApplied(seq), APPLY_WAIT_MS);
  }

  /** Whether the supervisor and each worker have applied row `seq`. */
  hasApplied(seq: number): boolean {
    return this.#plane.hasApplied(seq) && this.#haveApplied(seq);
  }

  /** The keys used in any process since the last call; of a worker that was killed, some may be missing. */
  async takeUsedKeys(): Promise<ReadonlySet<string>> {
    const asked = [...this.#members.values()].map(({ usedKeys }) => usedKeys());
    const used = new Set([...this.#leftKeys, ...(await this.#plane.takeUsedKeys())]);
    this.#leftKeys.clear();
    for (const keys of await Promise.all(asked)) for (const id of keys) used.add(id);
    return used;
  }

  /** Whether each worker has applied row `seq`. */
  #haveApplied(seq: number): boolean {
    return [...this.#members.values()].every(({ applied }) => applied >= seq);
  }

  #onLive(seq: number): void {
    this.#forgetRows();
    this.#ownSeq = seq;
    this.#sums.advance(seq);
    this.#notify((observer) => observer.live?.(seq));
  }

  #forgetRows(): void {
    this.#rows.length = 0;
    this.#sums.clear();
  }

  /** Tells the observers which rows every process has applied by now. */
  #advance(): void {
    const byAll = [...this.#members.values()].reduce(
      (least, { applied }) => Math.min(least, applied),
      this.#ownSeq,
    );
    while (this.#rows[0] !== undefined && this.#rows[0].seq <= byAll) {
      // `LogRow`: the loop has looked at it.
      const row = this.#rows.shift() as LogRow;
      this.#notify((observer) => observer.applied?.(row));
      this.#sums.advance(row.seq);
    }
    this.#waiters.check();
  }

  #countStreams(): number {
    const all = [...this.#members.keys()].flatMap((worker) => this.streamsOf(worker));
    return all.reduce((sum, [, count]) => sum + count, 0);
  }

  #addStreams(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    const sums = new Map<string, Map<string, number>>();
    const add = (environmentId: string, keyId: string, count: number) => {
      const byKey = sums.get(environmentId) ?? new Map<string, number>();
      sums.set(environmentId, byKey);
      byKey.set(keyId, (byKey.get(keyId) ?? 0) + count);
    };
    for (const [id, byKey] of this.#plane.streams.streamsByKey()) for (const each of byKey) add(id, ...each);
    for (const { streams } of this.#members.values()) {
      for (const [id, byKey] of streams) for (const each of byKey) add(id, ...each);
    }
    return sums;
  }

  #notify(of: (observer: ReadersObserver) => void): void {
    for (const observer of this.#observers) of(observer);
  }
}

function addByKey(streams: StreamCounts): KeyCounts {
  const sums = new Map<string, number>();
  for (const [, byKey] of streams) {
    for (const [keyId, count] of byKey) sums.set(keyId, (sums.get(keyId) ?? 0) + count);
  }
  return [...sums];
}
