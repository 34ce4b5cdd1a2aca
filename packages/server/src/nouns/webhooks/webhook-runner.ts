import { defined } from '@halyard/protocol';
import type { Logger } from 'pino';
import { Alarm } from '../../domain/alarm.ts';
import { SYSTEM } from '../../domain/audit.ts';
import type { LogRow } from '../../domain/change-log.ts';
import { StoreOutage } from '../../domain/errors.ts';
import type { ManagementContext } from '../../management/context.ts';
import { write } from '../../management/write.ts';
import { readPending, releaseLeases, settleLease, takeLease } from './delivery-table.ts';
import { readNextMessage, readOlder } from './message-query.ts';
import { afterFailure, WEBHOOK_RETRIES, whyDisabled } from './pace.ts';
import {
  type DeliveryOutcome,
  LEASE_MS,
  type Lease,
  type Settlement,
  type WebhookMessage,
  type WebhookTarget,
} from './webhook.ts';
import { lockPlace } from './webhook-place.ts';
import type { Attempt, WebhookSender } from './webhook-sender.ts';
import { readTarget, storeWebhook } from './webhook-table.ts';

/** Webhooks that this node delivers for at once, and messages until another webhook has its turn. */
const LIMITS = { active: 64, turn: 50 } as const;

/** Milliseconds between two looks for work of other nodes, and from a change to the look for its webhooks. */
const PAUSES = { poll: 5_000, wake: 25, error: 30_000 } as const;

/** The parts of a {@link WebhookRunner}. */
export interface WebhookRunnerParts {
  readonly context: ManagementContext;
  readonly sender: WebhookSender;
  /** Names this run of this node. */
  readonly node: string;
  readonly log: Logger;
  /** Whether the node follows the log; otherwise deliveries wait. */
  readonly isReady: () => boolean;
  /** From 0 to 1; default: random. */
  readonly random?: () => number;
}

/**
 * Delivers changes to webhooks: each webhook in order, one message at a time, on the node that holds its lease. Every node
 * has a runner. What is to be delivered is read from the audit log when it is sent, so nothing waits in memory.
 */
export class WebhookRunner {
  /** Attempts of this node by outcome; `given-up` counts changes. */
  readonly counts: Record<DeliveryOutcome, number> = { delivered: 0, failed: 0, 'given-up': 0 };
  readonly #parts: WebhookRunnerParts;
  readonly #active = new Map<string, Promise<void>>();
  /** Webhooks that met an unexpected error, and when they are tried again. */
  readonly #stalled = new Map<string, number>();
  /** Webhooks that got more to deliver while this node was at it. */
  readonly #again = new Set<string>();
  readonly #closing = new AbortController();
  #hasLeases = false;
  readonly #alarm = new Alarm();
  #isRunning = false;
  #running: Promise<void> | undefined;
  /** Projects with changes since the last look, empty for what belongs to none; all of them at the first. */
  #changed = new Set<string>();
  #polledAt = Number.NEGATIVE_INFINITY;
  #pendingSince: number | undefined;
  #failing = 0;

  constructor(parts: WebhookRunnerParts) {
    this.#parts = parts;
  }

  /** How long the oldest change waits for its delivery, in seconds, as seen at the last poll. */
  get lagSeconds(): number {
    if (this.#pendingSince === undefined) return 0;
    return Math.max(0, this.#parts.context.now() - this.#pendingSince) / 1000;
  }

  /** Active webhooks whose last attempt failed, as seen at the last poll. */
  get failing(): number {
    return this.#failing;
  }

  /** Looks for work at once, and from then on until {@link close}. */
  start(): void {
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** A row of the log was applied. */
  readonly applied = ({ projectId }: Pick<LogRow, 'projectId'>): void => {
    if (!this.#isRunning) return;
    this.#changed.add(projectId);
    this.#alarm.ring();
  };

  /** Looks for work once and delivers it. For tests; a node calls {@link start}. */
  async runOnce(): Promise<void> {
    this.#polledAt = Number.NEGATIVE_INFINITY;
    await this.#look();
    await Promise.all(this.#active.values());
  }

  /** Ends running attempts, whose messages are sent again, and lets other nodes continue. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#isRunning = false;
    this.#closing.abort();
    this.#alarm.ring();
    await this.#running;
    await Promise.all(this.#active.values());
    if (!this.#hasLeases) return;
    try {
      const { context, node } = this.#parts;
      await context.store.unlogged((tx) => releaseLeases(tx, node));
    } catch {
      // The database is away: the leases end by themselves.
    }
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      const delayMs = await this.#look();
      const hasRung = await this.#alarm.wait(performance.now() + delayMs);
      // Changes that come together are found in one look. The next turn of a webhook comes at once.
      if (hasRung && this.#isRunning && this.#untilPoll() > 0) await Bun.sleep(PAUSES.wake);
    }
  }

  /** Starts what is due; returns how long to wait. Never rejects. */
  async #look(): Promise<number> {
    const { context, node, log, isReady } = this.#parts;
    if (!isReady()) return PAUSES.poll / 5;
    const isPoll = performance.now() - this.#polledAt >= PAUSES.poll;
    const changed = [...this.#changed].slice(0, 100);
    for (const project of changed) this.#changed.delete(project);
    if (!isPoll && changed.length === 0) return this.#untilPoll();

    try {
      const now = context.now();
      const pending = await readPending(context.store, {
        node,
        now,
        ...(isPoll ? {} : { projects: changed }),
      });
      if (isPoll) {
        this.#polledAt = performance.now();
        this.#pendingSince = pending.reduce<number | undefined>(
          (oldest, { pendingSince }) => Math.min(oldest ?? pendingSince, pendingSince),
          undefined,
        );
        this.#failing = pending.filter(({ nextAttemptAt }) => nextAttemptAt !== undefined).length;
      }

      let next = this.#changed.size > 0 ? 0 : this.#untilPoll();
      for (const [id, until] of this.#stalled)
        if (until <= now || until > now + PAUSES.error) this.#stalled.delete(id);
      for (const { id, nextAttemptAt = 0, leasedUntil = 0 } of pending) {
        const wait = Math.max(nextAttemptAt, leasedUntil, this.#stalled.get(id) ?? 0) - now;
        if (wait > 0) next = Math.min(next, wait);
        // The rest gets its turn when one of them ends.
        else if (this.#active.size < LIMITS.active) this.#begin(id);
      }

      return next;
    } catch (err) {
      for (const project of changed) this.#changed.add(project);
      log[err instanceof StoreOutage ? 'debug' : 'warn']({ err }, 'cannot look for webhooks; retrying');
      return PAUSES.poll;
    }
  }

  #untilPoll(): number {
    return Math.max(0, this.#polledAt + PAUSES.poll - performance.now());
  }

  #begin(id: string): void {
    if (this.#closing.signal.aborted) return;
    if (this.#active.has(id)) return void this.#again.add(id);
    this.#hasLeases = true;
    const done = this.#deliver(id)
      .catch((err: unknown) => {
        this.#stalled.set(id, this.#parts.context.now() + PAUSES.error);
        if (this.#closing.signal.aborted) return false;
        this.#parts.log[err instanceof StoreOutage ? 'debug' : 'error'](
          { err, webhook: id },
          'webhook stalled',
        );
        return false;
      })
      .then((hasMore) => {
        this.#active.delete(id);
        // Changes that came during the delivery, and webhooks that wait for a place.
        if (this.#again.delete(id) || hasMore || this.#active.size >= LIMITS.active - 1) {
          this.#polledAt = Number.NEGATIVE_INFINITY;
          this.#alarm.ring();
        }
      });
    this.#active.set(id, done);
  }

  /** Delivers for one webhook until nothing is left, an attempt fails or its turn is over; returns whether it has more. */
  async #deliver(id: string): Promise<boolean> {
    const { store } = this.#parts.context;
    let target = await store.unlogged((tx) => takeLease(tx, this.#lease(id)));
    for (let sent = 0; target?.status === 'active'; sent++) {
      if (this.#closing.signal.aborted || sent === LIMITS.turn) return true;
      const { cursor } = target;
      const scope = target;
      const next = await store.read((db) => readNextMessage(db, scope));
      if ('end' in next) {
        if (next.end > cursor) target = await this.#settle(target, { ...standing(target), cursor: next.end });
        if (next.isLast) return false;
        continue;
      }
      const attempt = await this.#parts.sender.change(target, next.message, this.#closing.signal);
      if (attempt.outcome === 'failed' && this.#closing.signal.aborted) return false;
      const settled = await this.#note(target, next.message, attempt);
      if (attempt.outcome === 'failed') return false;
      target = settled;
    }
    return false;
  }

  #lease(id: string): Lease {
    const now = this.#parts.context.now();
    return { id, node: this.#parts.node, now, until: now + LEASE_MS };
  }

  #settle(target: WebhookTarget, settlement: Omit<Settlement, 'from'>): Promise<WebhookTarget | undefined> {
    const { store } = this.#parts.context;
    const settled = { from: target.cursor, ...settlement };
    return store.unlogged((tx) => settleLease(tx, this.#lease(target.id), settled));
  }

  async #note(
    target: WebhookTarget,
    { seq, messageId, at }: WebhookMessage,
    attempt: Attempt,
  ): Promise<WebhookTarget | undefined> {
    const { context, log } = this.#parts;
    this.counts[attempt.outcome]++;
    const same = { messageId, trigger: 'change' } as const;
    const { retryAfterMs: _, ...made } = attempt;
    const delivery = { seq, ...same, ...made };
    if (attempt.outcome === 'delivered') {
      return this.#settle(target, { cursor: seq, failures: 0, deliveries: [delivery] });
    }

    const now = context.now();
    const random = (this.#parts.random ?? Math.random)();
    const failed = afterFailure(target, attempt, { now, random });

    const limit = now - WEBHOOK_RETRIES.giveUpMs;
    if (failed.failingSince > limit || at > limit) {
      if (!(await this.#settle(target, { ...failed, deliveries: [delivery] }))) return undefined;
    } else {
      // Those behind it at the pace at which they were made: after days without a node all of them are old.
      const paced = at + failed.nextAttemptAt - now;
      const { count, cursor } = await readOlder(context.store, target, Math.min(limit, paced));
      const error = `${count === 1 ? 'This change was' : `${count} changes, up to this one, were`} given up after a day of retries.`;
      const lost = { ...same, seq: cursor, outcome: 'given-up', error, durationMs: 0, at: now } as const;
      const deliveries = [delivery, lost];
      if (!(await this.#settle(target, { ...failed, cursor, givenUp: count, deliveries }))) return undefined;
      this.counts['given-up'] += count;
      const { name, project } = target;
      log.warn({ webhook: name, project, changes: count }, 'changes given up: the webhook fails');
    }

    const reason = whyDisabled(failed.failingSince, attempt, now);
    if (reason !== undefined) await this.#disable(target, reason);
    return undefined;
  }

  /** Switches off a webhook whose receiver is gone for good. */
  async #disable({ id, projectId, name, project }: WebhookTarget, reason: string): Promise<void> {
    const { context, log } = this.#parts;
    await write(context, SYSTEM, async (tx) => {
      await lockPlace(tx, { id, projectId });
      const current = await readTarget(tx, id);
      if (current?.status === 'active') await storeWebhook(tx, current, { status: 'disabled', reason });
    });
    log.warn({ webhook: name, project, reason }, 'webhook disabled');
  }
}

/** What a settlement that notes no attempt leaves as it is. */
function standing({
  failures,
  failingSince,
  nextAttemptAt,
}: WebhookTarget): Omit<Settlement, 'from' | 'cursor'> {
  return { failures, ...defined({ failingSince, nextAttemptAt }), deliveries: [] };
}
