import type { Logger } from 'pino';
import { Alarm } from '../../domain/alarm.ts';
import { type LogRow, recordActions } from '../../domain/change-log.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { PendingPublication, PublishedMap } from './publication.ts';
import {
  readPublications,
  releasePublisherLease,
  removePublication,
  settlePublication,
  takePublisherLease,
} from './publication-table.ts';
import { type PublishedStorage, Publisher } from './publisher.ts';

/**
 * Milliseconds between two looks at what is to be published, two writes of one environment, two notes that nothing has changed,
 * and two searches for old objects; and after failures: the first and the longest pause.
 */
const PAUSES = {
  look: 3_000,
  write: 1_000,
  check: 60_000,
  clean: 3_600_000,
  error: 1_000,
  longestError: 30_000,
} as const;

/** Environments that are written at once. */
const AT_ONCE = 8;

/** A node that is behind for longer says so in `/readyz`, in milliseconds. */
const REPORTED_MS = 10_000;

/** The parts of a {@link PublishRunner}. */
export interface PublishRunnerParts {
  readonly context: ManagementContext;
  readonly storage: PublishedStorage;
  /** The newest map of an environment as this node serves it. */
  readonly mapOf: (environmentId: string) => PublishedMap | undefined;
  /** Names this run of this node. */
  readonly node: string;
  readonly log: Logger;
  /** Whether the node is current; otherwise nothing is published. */
  readonly isReady: () => boolean;
  /** Default: what the documents say. */
  readonly pauses?: Partial<Record<keyof typeof PAUSES, number>>;
}

/** The changes of records after which this node looks again: most, such as a sign-in, are about something else. */
const PUBLICATION_ACTIONS = new Set(['environment.published', 'environment.withdrawn']);

/** How an environment stands, on the monotonic clock of this process. */
interface Standing {
  /** Since when its newest map is not in the storage. */
  behindSince: number | undefined;
  /** It is not written again before this time. */
  nextAt: number;
  /** When it was last noted that nothing has changed. */
  checkedAt: number;
  /** When old objects were last removed. */
  cleanedAt: number;
  failures: number;
  reason: string | undefined;
}

/**
 * Publishes environments on the one node that has the lease. Every node with the setting has a runner. Only the newest map counts:
 * what changes while another is being written is published with the next. (Spec: S18.4)
 */
export class PublishRunner {
  /** Maps that this node has written, and attempts that failed. */
  readonly counts = { published: 0, failed: 0 };
  readonly #parts: PublishRunnerParts;
  readonly #pauses: Record<keyof typeof PAUSES, number>;
  readonly #publisher: Publisher;
  readonly #standings = new Map<string, Standing>();
  readonly #alarm = new Alarm();
  #publications: readonly PendingPublication[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isHolder = false;
  #isRunning = false;
  #running: Promise<void> | undefined;

  constructor(parts: PublishRunnerParts) {
    this.#parts = parts;
    this.#pauses = { ...PAUSES, ...parts.pauses };
    this.#publisher = new Publisher(parts.storage, () => parts.context.now());
  }

  /** For how long the newest map of some environment has not been in the storage, in seconds; 0 at nodes that do not publish. */
  get behindSeconds(): number {
    return this.#behindMs() / 1000;
  }

  /** Why this node is behind with publishing for long, as a sentence. */
  trouble(): string | undefined {
    if (this.#behindMs() < REPORTED_MS) return undefined;
    const reason = [...this.#standings.values()].find((each) => each.reason !== undefined)?.reason;
    const why = reason === undefined ? '' : `: ${reason}`;
    return `Publishing is ${Math.round(this.behindSeconds)} seconds behind${why}.`;
  }

  /** Publishes from now on until {@link close}. */
  start(): void {
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** A row of the log was applied. */
  readonly applied = (row: Pick<LogRow, 'kind' | 'environmentId' | 'payload'>): void => {
    const isAsked = recordActions(row).some((action) => PUBLICATION_ACTIONS.has(action));
    if (isAsked) this.#lookedAt = Number.NEGATIVE_INFINITY;
    const standing = this.#standings.get(row.environmentId ?? '');
    if (standing !== undefined) standing.behindSince ??= performance.now();
    if (standing !== undefined || isAsked) this.#alarm.ring();
  };

  /** Publishes once what is due. For tests; a node calls {@link start}. */
  async runOnce(): Promise<void> {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    await this.#work();
  }

  /** Finishes what is being written, and lets another node continue. Safe to call twice. */
  async close(): Promise<void> {
    this.#isRunning = false;
    this.#alarm.ring();
    await this.#running;
    if (!this.#isHolder) return;
    this.#isHolder = false;
    const { context, node } = this.#parts;
    // If the database is away, the lease ends by itself.
    await context.store.unlogged((tx) => releasePublisherLease(tx, node)).catch(() => {});
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      let delayMs = this.#pauses.error;
      try {
        delayMs = await this.#work();
      } catch (err) {
        this.#parts.log.debug({ err }, 'cannot look for environments to publish; retrying');
      }
      await this.#alarm.wait(performance.now() + delayMs);
    }
  }

  /** Looks, and writes what is due; returns how long to wait. */
  async #work(): Promise<number> {
    if (!this.#parts.isReady()) return this.#pauses.error;
    if (performance.now() - this.#lookedAt >= this.#pauses.look) await this.#look();
    if (!this.#isHolder) return this.#pauses.look;

    let due = this.#publications.filter((each) => this.#isDue(each));
    // The lease must be renewed in time, also where there is much to write.
    while (due.length > 0 && performance.now() - this.#lookedAt < this.#pauses.look) {
      await Promise.all(due.slice(0, AT_ONCE).map((each) => this.#settle(each)));
      due = due.slice(AT_ONCE);
    }
    return this.#untilNext();
  }

  /** Takes or renews the lease, and reads what is published. */
  async #look(): Promise<void> {
    const { context, node } = this.#parts;
    this.#lookedAt = performance.now();
    const wasHolder = this.#isHolder;
    this.#isHolder = await context.store.unlogged((tx) =>
      takePublisherLease(tx, { node, now: context.now() }),
    );
    if (!this.#isHolder || !wasHolder) {
      this.#publisher.forget();
      this.#standings.clear();
    }
    if (!this.#isHolder) return;

    this.#publications = await readPublications(context.store);
    const ids = new Set(this.#publications.map(({ environmentId }) => environmentId));
    for (const id of this.#standings.keys()) if (!ids.has(id)) this.#standings.delete(id);
    for (const { environmentId, isWanted } of this.#publications) {
      const standing = this.#standing(environmentId);
      if (!isWanted) standing.behindSince ??= performance.now();
    }
  }

  #standing(environmentId: string): Standing {
    const standing = this.#standings.get(environmentId) ?? {
      behindSince: performance.now(),
      nextAt: 0,
      checkedAt: Number.NEGATIVE_INFINITY,
      cleanedAt: Number.NEGATIVE_INFINITY,
      failures: 0,
      reason: undefined,
    };
    this.#standings.set(environmentId, standing);
    return standing;
  }

  #isDue({ environmentId, isWanted }: PendingPublication): boolean {
    const standing = this.#standing(environmentId);
    const now = performance.now();
    if (standing.nextAt > now) return false;
    return !isWanted || standing.behindSince !== undefined || now - standing.checkedAt >= this.#pauses.check;
  }

  #untilNext(): number {
    const now = performance.now();
    let next = this.#lookedAt + this.#pauses.look;
    for (const { behindSince, nextAt } of this.#standings.values())
      if (behindSince !== undefined) next = Math.min(next, nextAt);
    return Math.max(0, next - now);
  }

  /** Publishes or withdraws one environment. Never rejects. */
  async #settle(publication: PendingPublication): Promise<void> {
    const { environmentId, path, isWanted } = publication;
    const standing = this.#standing(environmentId);
    const { behindSince = performance.now() } = standing;
    standing.nextAt = performance.now() + this.#pauses.write;
    // What changes from now on may not be in what is written.
    standing.behindSince = undefined;
    try {
      const isDone = await (isWanted ? this.#publish(publication, standing) : this.#withdraw(publication));
      if (!isDone) standing.behindSince = behindSince;
      standing.failures = 0;
      standing.reason = undefined;
    } catch (error) {
      this.counts.failed++;
      standing.behindSince = behindSince;
      const pause = Math.min(
        this.#pauses.error * 2 ** Math.min(standing.failures++, 10),
        this.#pauses.longestError,
      );
      standing.nextAt = performance.now() + pause;
      const reason = error instanceof Error ? error.message : String(error);
      if (standing.reason !== reason)
        this.#parts.log.warn({ path, reason }, 'an environment cannot be published; retrying');
      standing.reason = reason;
    }
  }

  /** Returns whether what the node serves now is in the storage. */
  async #publish(publication: PendingPublication, standing: Standing): Promise<boolean> {
    const { context, mapOf, log } = this.#parts;
    const { environmentId, path } = publication;
    const map = mapOf(environmentId);
    // This node has yet to apply its creation, or has applied its deletion; or it is no longer current.
    if (map === undefined || !this.#parts.isReady()) return false;
    // Something else may have been written at the same time: seen at the next attempt.
    if (!(await this.#publisher.publish(publication, map))) return false;

    standing.checkedAt = performance.now();
    const { revision } = map;
    if (publication.revision === revision) {
      await this.#clean(publication, standing);
      return true;
    }

    this.counts.published++;
    await context.store.unlogged((tx) => settlePublication(tx, { environmentId, revision }));
    this.#publications = this.#publications.map((each) =>
      each.environmentId === environmentId ? { ...each, revision } : each,
    );
    log.debug({ path, revision }, 'published');
    return true;
  }

  /** Removes old objects, now and then. It is called only when there is nothing to write. */
  async #clean(publication: PendingPublication, standing: Standing): Promise<void> {
    const now = performance.now();
    if (now - standing.cleanedAt < this.#pauses.clean) return;
    const hasMore = await this.#publisher.clean(publication);
    standing.cleanedAt = hasMore ? Number.NEGATIVE_INFINITY : now;
  }

  async #withdraw(publication: PendingPublication): Promise<boolean> {
    const { environmentId, path } = publication;
    // A later environment of that name has its files there.
    const isReplaced = this.#publications.some((each) => each.isWanted && each.path === path);
    if (!isReplaced) await this.#publisher.withdraw(publication);
    await this.#parts.context.store.unlogged((tx) => removePublication(tx, environmentId));
    this.#standings.delete(environmentId);
    this.#publications = this.#publications.filter((each) => each.environmentId !== environmentId);
    this.#parts.log.info({ path }, 'withdrawn');
    return true;
  }

  #behindMs(): number {
    const now = performance.now();
    let longest = 0;
    for (const { behindSince = now } of this.#standings.values())
      longest = Math.max(longest, now - behindSince);
    return longest;
  }
}
