import { USAGE_COMMENT } from '@halyard/protocol';
import type { Logger } from 'pino';
import type { Cursor, LogHistory, LogRow, LogSource, Snapshot } from '../domain/change-log.ts';
import type { DeliveryProgress } from '../domain/delivery.ts';
import { StorageError, StoreOutage } from '../domain/errors.ts';
import type { ReadSide } from '../domain/read-side.ts';
import { OpenFiles } from '../http/open-files.ts';
import { Catalog } from './catalog/catalog.ts';
import { NodeFreshness } from './freshness.ts';
import { Follower } from './replication/follower.ts';
import { EvaluationCounters } from './serving/counters.ts';
import { type CloseCause, Hub } from './streaming/hub.ts';
import { UsageTally } from './usage/usage-tally.ts';

/**
 * Observes a read plane: for metrics, receipts, dashboards. Each method is called after readers have been
 * served, in the same turn of the event loop, and must not throw.
 */
export interface ReadPlaneObserver {
  /** The node is current: its catalog ends where the log does, at row `seq`; streams may be opened. */
  live?(seq: number): void;
  /** A snapshot has replaced everything in the catalog. No stream is open. */
  loaded?(cursor: Cursor): void;
  /** The catalog was proven current: about once a second while the log is followed. */
  proven?(): void;
  /** The node is not current any longer, and every stream has been closed. */
  lost?(): void;
  /** A row was applied, and its frames are on their way. */
  applied?(row: LogRow): void;
  /** More streams have taken a change. */
  progressed?(progress: DeliveryProgress): void;
  streamClosed?(cause: CloseCause): void;
  /** A stored record could not be read and counts as absent. */
  malformed?(record: { readonly kind: 'flag' | 'key'; readonly id: string }): void;
}

/** Settings of a {@link ReadPlane}. */
export interface ReadPlaneSettings {
  /** Bytes a reader may leave unread before its stream is cut. */
  readonly maxQueuedBytes: number;
  /** Age from which reads are refused while the log is lost; absent for no limit. */
  readonly maxStaleSeconds?: number;
}

/** Parts of a {@link ReadPlane}. */
export interface ReadPlaneOptions extends ReadPlaneSettings {
  readonly source: LogSource;
  readonly log: Logger;
}

/** What a read plane starts from while its log is away. */
export interface StartingPoint {
  readonly snapshot: Snapshot;
  /** When it was last proven current, in epoch milliseconds. */
  readonly provenAt: number;
  /** Whether the log may continue there; otherwise a whole snapshot is loaded as soon as it can be. */
  readonly continues: boolean;
}

/** While the log stays unreachable, one of this many failed attempts is logged as a warning: about every half minute. */
const WARN_EVERY = 16;

/**
 * The read plane of a node: everything between the log and a reader. One row takes this way: the follower reads it,
 * the catalog applies it, the hub hands its frame to every stream of the environment, and only then are the observers
 * called. It needs a log and nothing else: no database, no management.
 */
export class ReadPlane implements ReadSide {
  readonly catalog: Catalog;
  readonly hub: Hub;
  readonly follower: Follower;
  readonly freshness: NodeFreshness;
  /** The answers of the evaluation interface, counted. */
  readonly counters = new EvaluationCounters();
  /** How often flags were read, as clients report it. */
  readonly usage: UsageTally;
  /** What is left of the process's limit of open files. */
  readonly files: OpenFiles;
  /** Whether the node was current after the first attempt to follow the log. Rejects with a {@link StorageError}, which retrying cannot fix. */
  readonly firstAttempt: Promise<boolean>;
  /** Resolves when the node is current for the first time. */
  readonly firstLive: Promise<void>;
  /** The history of its log, for the nodes that follow this one. */
  readonly history: LogHistory | undefined;
  readonly #log: Logger;
  readonly #observers: ReadPlaneObserver[] = [];
  readonly #firstAttempt = Promise.withResolvers<boolean>();
  /** As `#firstAttempt`, but a proof that is too old to make this node current does not settle it. */
  readonly #settled = Promise.withResolvers<boolean>();
  readonly #firstLive = Promise.withResolvers<void>();

  constructor(options: ReadPlaneOptions) {
    this.#log = options.log;
    this.history = options.source.history;
    this.files = new OpenFiles(options.log);

    this.firstAttempt = this.#firstAttempt.promise;
    for (const attempt of [this.firstAttempt, this.#settled.promise]) {
      attempt.catch(() => {
        // Those who wait for it get the error; here it must not count as unhandled.
      });
    }
    this.firstLive = this.#firstLive.promise;

    this.hub = new Hub({
      maxQueuedBytes: options.maxQueuedBytes,
      onClosed: (cause) => this.#notify((observer) => observer.streamClosed?.(cause)),
      onProgress: (progress) => this.#notify((observer) => observer.progressed?.(progress)),
    });

    this.catalog = new Catalog({
      changed: (environment, row, difference) => this.hub.broadcast(environment, row, difference),
      usageSwitched: ({ id, wantsUsage }) => void (wantsUsage && this.hub.comment(id, USAGE_COMMENT)),
      environmentGone: (id) => this.hub.closeEnvironment(id),
      keyGone: (id) => this.hub.closeKey(id),
      malformed: (record) => {
        this.#log.error(record, 'a stored record cannot be read and is treated as missing');
        this.#notify((observer) => observer.malformed?.(record));
      },
    });

    this.usage = new UsageTally(this.catalog);

    this.follower = new Follower({
      source: options.source,
      catalog: this.catalog,
      callbacks: {
        live: () => this.#log.debug({ seq: this.follower.seq }, 'the change log can be followed'),
        lost: (cause) => this.#onLost(cause),
        stillLost: (cause, attempts) => this.#onStillLost(cause, attempts),
        room: () => this.hub.room(),
        proven: () => this.#onProven(),
        loaded: (cursor) => this.#notify((observer) => observer.loaded?.(cursor)),
        applied: (row) => this.#notify((observer) => observer.applied?.(row)),
      },
    });

    this.freshness = new NodeFreshness({
      follower: this.follower,
      maxStaleSeconds: options.maxStaleSeconds,
      onCurrent: () => this.#onCurrent(),
      onLapsed: () => this.#onLapsed(),
    });
  }

  /** The open streams. */
  get streams(): Hub {
    return this.hub;
  }

  /** Waits until row `seq` has been applied here, at most two seconds. */
  waitForApplied(seq: number): Promise<void> {
    return this.follower.waitForApplied(seq);
  }

  /** Whether row `seq` has been applied here. */
  hasApplied(seq: number): boolean {
    return this.follower.seq >= seq;
  }

  /** The public ids of the keys that were used since the last call, or hold a stream open; some are both. */
  async takeUsedKeys(): Promise<Iterable<string>> {
    return inTurn(this.catalog.keys.takeUsed(), this.hub.openKeys());
  }

  /** Adds an observer, called after the earlier ones. */
  observe(observer: ReadPlaneObserver): void {
    this.#observers.push(observer);
  }

  /** Follows the log until {@link close}. Until it is reached, `lastKnown` is served. */
  start(lastKnown?: StartingPoint): void {
    if (lastKnown !== undefined) {
      const { snapshot, continues } = lastKnown;
      const ageMs = Math.max(0, Date.now() - lastKnown.provenAt);
      this.follower.restore(snapshot, { provenAt: performance.now() - ageMs, continues });
    }
    void this.follower.run();
  }

  /**
   * Resolves once this node is current or the first attempt to follow the log has failed, or takes longer than this. Rejects as
   * {@link firstAttempt}. Over a slow link the first proof may be too old to make it current; the next one comes soon.
   */
  async attempted(withinMs: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, withinMs);
    await Promise.race([this.#settled.promise, late.promise]).finally(() => clearTimeout(timer));
  }

  /** Ends the streams spread over a window, so that their clients do not all return at once. */
  drain(windowMs: number): Promise<void> {
    this.freshness.drain();
    return this.hub.drain(windowMs);
  }

  /** Stops following and ends every stream. Safe to call twice. */
  close(): void {
    this.follower.close();
    this.freshness.lost();
    this.catalog.close();
    this.hub.close();
    this.files.close();
  }

  #onProven(): void {
    this.freshness.proven();
    this.#notify((observer) => observer.proven?.());
    // The log can be followed, but the node is not current: it was slow to answer.
    this.#firstAttempt.resolve(false);
  }

  #onCurrent(): void {
    const { seq } = this.follower;
    this.#notify((observer) => observer.live?.(seq));
    this.#log.info({ seq }, 'following the change log');
    this.#firstAttempt.resolve(true);
    this.#settled.resolve(true);
    this.#firstLive.resolve();
  }

  #onLapsed(): void {
    this.#endStreams();
    this.#log.warn({ reason: this.freshness.trouble() }, 'this node is not current; streams are closed');
  }

  /** (Spec: S6.5) In the turn in which it is known that the node is not current, every stream ends and nothing more is sent. */
  #endStreams(): void {
    this.hub.closeAll('listener');
    this.#notify((observer) => observer.lost?.());
  }

  #onLost(cause: Error): void {
    if (this.freshness.lost()) this.#endStreams();
    if (cause instanceof StorageError && !this.follower.hasSnapshot) {
      this.#log.error({ reason: cause.message }, 'cannot follow the change log');
      this.#firstAttempt.reject(cause);
      this.#settled.resolve(this.firstAttempt);
      return;
    }
    // The message of an expected failure is enough; for any other the stack may help.
    if (cause instanceof StorageError) {
      this.#log.error({ reason: cause.message }, 'cannot follow the change log; streams are closed');
    } else {
      const details = cause instanceof StoreOutage ? { reason: cause.message } : { err: cause };
      this.#log.warn(details, 'the change log is unreachable; streams are closed, retrying');
    }
    this.#firstAttempt.resolve(false);
    this.#settled.resolve(false);
  }

  #onStillLost(cause: Error, attempts: number): void {
    const needsHelp = cause instanceof StorageError;
    const level = attempts % WARN_EVERY !== 0 ? 'debug' : needsHelp ? 'error' : 'warn';
    const message = needsHelp ? 'still cannot follow the change log' : 'the change log is still unreachable';
    this.#log[level]({ reason: cause.message, attempts }, message);
  }

  #notify(of: (observer: ReadPlaneObserver) => void): void {
    for (const observer of this.#observers) of(observer);
  }
}

/** The items of one, then those of the other. Nothing is copied: there may be a hundred thousand keys. */
function* inTurn<T>(first: Iterable<T>, second: Iterable<T>): Generator<T> {
  yield* first;
  yield* second;
}
