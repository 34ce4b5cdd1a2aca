import type { Logger } from 'pino';
import type { Actor } from '../../domain/audit.ts';
import { quote, ServiceError, StoreBusy, StoreOutage } from '../../domain/errors.ts';
import { isTime } from '../../domain/iso-time.ts';
import type { Permissions } from '../../domain/people.ts';
import type { Schedule } from '../../domain/schedule.ts';
import type { StoreReader, StoreTransaction } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';
import { requireFlags } from '../flags/flag-states.ts';
import { currentPermissions } from '../people/access-tokens.ts';
import { prefixNote } from '../rules.ts';
import { requireChangeOf, write } from '../write.ts';
import { operationOf, readSteps } from './schedules.ts';

/** The result of one run over the schedules. */
export interface ScheduleRun {
  /** Due schedules that this call settled. */
  readonly settled: readonly { readonly id: string; readonly status: 'done' | 'failed' }[];
  /** Attempts that failed with an unexpected error, rather than a refusal. */
  readonly errors: readonly { readonly id: string; readonly error: unknown }[];
  /** When the next one is due or retried, in epoch milliseconds; absent when none is pending. */
  readonly nextDueAt?: number;
}

/** How often each schedule has failed on this node, and when it is retried. */
export type FailedAttempts = Map<string, { readonly count: number; readonly retryAt: number }>;

/** Attempts for a schedule that fails unexpectedly, and the pause after the first one; it doubles each time. */
export const SCHEDULE_ATTEMPTS = { most: 5, pauseMs: 5_000 } as const;

/** Schedules per read. */
const BATCH = 20;

/** Another node has run the schedule, or it was canceled: the transaction is rolled back. */
class AlreadySettled extends Error {
  override readonly name = 'AlreadySettled';
}

/**
 * Runs all due schedules, the oldest first. Any number of nodes may do this at once: a schedule is claimed and its change
 * made in one transaction, so it runs once. After an unexpected error it is retried as counted in `attempts`, and fails in
 * the end; the others do not wait for it. Rejects when the store is unreachable; due schedules then stay pending.
 */
export async function runDueSchedules(
  context: ManagementContext,
  attempts: FailedAttempts = new Map(),
): Promise<ScheduleRun> {
  const settled: { id: string; status: 'done' | 'failed' }[] = [];
  const errors: { id: string; error: unknown }[] = [];
  let nextDueAt = Number.POSITIVE_INFINITY;
  const seen = new Set<string>();
  let last: Schedule | undefined;
  for (;;) {
    const page = await context.store.read((reader) => reader.schedules.next(BATCH, last));
    for (const schedule of page) {
      const { id, dueAt } = schedule;
      seen.add(id);
      const dueNow = Math.max(dueAt, attempts.get(id)?.retryAt ?? 0);
      if (dueNow > context.now()) {
        nextDueAt = Math.min(nextDueAt, dueNow);
        continue;
      }
      // A schedule with a damaged time is never due.
      if (!isTime(dueAt)) continue;
      context.assertWritable();
      const { status, error } = await runSchedule(context, schedule, attempts);
      if (status !== undefined) settled.push({ id, status });
      if (error !== undefined) errors.push({ id, error });
      nextDueAt = Math.min(nextDueAt, attempts.get(id)?.retryAt ?? nextDueAt);
    }
    last = page.at(-1);
    // Sorted by due time: the schedules after one that is not due are not due either.
    if (last !== undefined && last.dueAt <= context.now()) continue;
    // Forget the schedules that were settled elsewhere.
    for (const id of attempts.keys()) if (!seen.has(id)) attempts.delete(id);
    return { settled, errors, ...(nextDueAt === Number.POSITIVE_INFINITY ? {} : { nextDueAt }) };
  }
}

/** Runs one schedule; without a status when another node settled it, or it will be retried. */
async function runSchedule(
  context: ManagementContext,
  schedule: Schedule,
  attempts: FailedAttempts,
): Promise<{ readonly status?: 'done' | 'failed'; readonly error?: unknown }> {
  const { id } = schedule;
  const actor = actorOf(schedule);
  const at = context.now();
  const fail = async (outcome: string) => {
    const settlement = { status: 'failed', at, outcome } as const;
    const isOurs = await write(context, actor, ({ schedules }) => schedules.settle(schedule, settlement));
    attempts.delete(id);
    return isOurs ? ({ status: 'failed' } as const) : {};
  };
  try {
    await write(context, actor, (transaction) => apply(transaction, { schedule, actor, at }));
    attempts.delete(id);
    return { status: 'done' };
  } catch (error) {
    if (error instanceof AlreadySettled) {
      attempts.delete(id);
      return {};
    }
    if (error instanceof ServiceError && error.code !== 'internal_error') return fail(error.message);
    if (error instanceof StoreOutage || error instanceof ServiceError) throw error;
    const count = (attempts.get(id)?.count ?? 0) + 1;
    const { most, pauseMs } = SCHEDULE_ATTEMPTS;
    // A busy store is retried without limit: the other writer ends. Any other error is one of the change.
    if (count >= most && !(error instanceof StoreBusy)) {
      return {
        ...(await fail(
          `The change failed ${most} times with an unexpected error. An administrator can find it in the server log.`,
        )),
        error,
      };
    }
    attempts.set(id, { count, retryAt: at + pauseMs * 2 ** (Math.min(count, most) - 1) });
    return { error };
  }
}

async function apply(
  transaction: StoreTransaction,
  run: { readonly schedule: Schedule; readonly actor: Actor; readonly at: number },
): Promise<void> {
  const { schedule, at } = run;
  const { projectId, environmentId } = schedule;
  // Locks in the order in which a project is deleted: the environment, then the schedule.
  const environment = await transaction.lockEnvironment(environmentId);
  if (!(await transaction.schedules.settle(schedule, { status: 'done', at }))) throw new AlreadySettled();
  if (environment === undefined) {
    throw new ServiceError('environment_not_found', 'The environment has been deleted.');
  }
  requireChangeOf({ ...run.actor, permissions: await permissionsOf(transaction, schedule, at) }, environment);
  const steps = readSteps(schedule.changes);
  await requireFlags(transaction, { projectId, keys: steps.map(({ key }) => key) });
  const operations = [];
  for (const step of steps) {
    const current = await transaction.state(environmentId, step.key);
    operations.push(operationOf(step, current?.state));
  }
  await transaction.changeStates(environment, operations);
}

async function permissionsOf(
  reader: StoreReader,
  { createdBy, createdAt }: Schedule,
  now: number,
): Promise<Permissions> {
  const permissions = await currentPermissions(reader, createdBy, { now, since: createdAt });
  if (permissions !== undefined) return permissions;
  throw new ServiceError(
    'forbidden',
    `${quote(createdBy)}, who scheduled this, no longer has permission to make changes.`,
  );
}

function actorOf({ id, createdBy, note }: Schedule): Actor {
  return {
    name: createdBy,
    // Replaced by the current permissions in the transaction that runs the schedule.
    permissions: { role: 'viewer', canChangeProtected: false, confirmed: [] },
    note: prefixNote(`Schedule ${id}`, note),
  };
}

/** Milliseconds between two polls, which find the schedules that other nodes accepted. */
const POLL_MS = 5_000;

/** The parts of a {@link ScheduleRunner}. */
export interface ScheduleRunnerParts {
  readonly context: ManagementContext;
  readonly log: Logger;
  /** Whether the node accepts changes; otherwise due schedules wait. */
  readonly isReady: () => boolean;
}

/**
 * Runs schedules when they are due: wakes up for the next known one, and polls every five seconds for others. Every node
 * has a runner; the store makes sure that each schedule runs once.
 */
export class ScheduleRunner {
  readonly #parts: ScheduleRunnerParts;
  #timer: Timer | undefined;
  /** When the timer fires, by the context's clock. */
  #wakeAt = Number.POSITIVE_INFINITY;
  #polling: Promise<void> | undefined;
  #isRunning = false;
  readonly #attempts: FailedAttempts = new Map();

  constructor(parts: ScheduleRunnerParts) {
    this.#parts = parts;
  }

  /** Polls at once, and from then on until {@link close}. */
  start(): void {
    this.#isRunning = true;
    this.#wakeIn(0);
  }

  /** Wakes up for a schedule that was just created. */
  note(dueAt: number): void {
    const delayMs = Math.max(0, dueAt - this.#parts.context.now());
    if (delayMs < POLL_MS && dueAt < this.#wakeAt) this.#wakeIn(delayMs);
  }

  /** Stops, after the schedule that is running. Safe to call twice. */
  async close(): Promise<void> {
    this.#isRunning = false;
    clearTimeout(this.#timer);
    await this.#polling;
  }

  #wakeIn(delayMs: number): void {
    if (!this.#isRunning) return;
    clearTimeout(this.#timer);
    this.#wakeAt = this.#parts.context.now() + delayMs;
    this.#timer = setTimeout(() => this.#wake(), delayMs);
    this.#timer.unref();
  }

  #wake(): void {
    this.#wakeAt = Number.POSITIVE_INFINITY;
    if (this.#polling !== undefined) {
      // The running poll may have missed what is due now.
      void this.#polling.then(() => this.#wakeIn(0));
      return;
    }
    this.#polling = this.#poll().then((delayMs) => {
      this.#polling = undefined;
      if (this.#parts.context.now() + delayMs < this.#wakeAt) this.#wakeIn(delayMs);
    });
  }

  /** Runs what is due; returns how long to wait. Never rejects. */
  async #poll(): Promise<number> {
    const { context, log, isReady } = this.#parts;
    if (!isReady()) return POLL_MS / 5;
    try {
      const { settled, errors, nextDueAt } = await runDueSchedules(context, this.#attempts);
      for (const { id, error } of errors) {
        log.error({ err: error, schedule: id }, 'scheduled change failed unexpectedly');
      }
      for (const { id, status } of settled) log.info({ schedule: id, status }, 'schedule settled');
      if (nextDueAt === undefined) return POLL_MS;
      return Math.min(POLL_MS, Math.max(0, nextDueAt - context.now()));
    } catch (err) {
      log.warn({ err }, 'cannot read schedules; retrying');
      return POLL_MS;
    }
  }
}
