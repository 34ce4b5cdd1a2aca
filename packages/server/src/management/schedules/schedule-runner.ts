import type { Logger } from 'pino';
import type { Actor } from '../../domain/audit.ts';
import { ServiceError, StoreBusy, StoreOutage } from '../../domain/errors.ts';
import { isTime } from '../../domain/iso-time.ts';
import type { Permissions } from '../../domain/people.ts';
import type { Schedule } from '../../domain/schedule.ts';
import type { StoreReader, StoreTransaction } from '../../domain/store.ts';
import { quote } from '../../domain/strict-members.ts';
import type { ManagementContext } from '../context.ts';
import { requireFlags } from '../flags/flag-states.ts';
import { currentPermissions } from '../people/access-tokens.ts';
import { requireChangeOf } from '../permissions.ts';
import { prefixNote } from '../rules.ts';
import { write } from '../write.ts';
import { operationOf, readSteps } from './schedules.ts';

/** What one look at the schedules came to. */
export interface ScheduleLook {
  /** Due schedules that this call settled, one way or the other. */
  readonly settled: readonly { readonly id: string; readonly status: 'done' | 'failed' }[];
  /** Attempts that ended with an error which is not a refusal: of the change, or of the server itself. */
  readonly errors: readonly { readonly id: string; readonly error: unknown }[];
  /** When the next one is due, or tried again, in epoch milliseconds; absent while none is pending. */
  readonly nextDueAt?: number;
}

/** How often each schedule was tried in vain, and when it may be tried again. One for each node. */
export type FailedAttempts = Map<string, { readonly count: number; readonly retryAt: number }>;

/** How often a schedule is tried whose run ends with an error, and the pause after the first time; it doubles. */
export const SCHEDULE_ATTEMPTS = { most: 5, pauseMs: 5_000 } as const;

/** Due schedules that are read at once. */
const BATCH = 20;

/** Another node has it, or it was cancelled: the transaction ends without a trace. */
class AlreadySettled extends Error {
  override readonly name = 'AlreadySettled';
}

/**
 * Makes every scheduled change that is due, the longest due first. Any number of nodes may do this at once: each change
 * is claimed and made in one transaction, so it is made once. One whose run ends with an error is tried again later and
 * fails in the end, as counted in `attempts`; the others do not wait for it. Rejects when the store is out of reach; what
 * is due then stays pending.
 */
export async function runDueSchedules(
  context: ManagementContext,
  attempts: FailedAttempts = new Map(),
): Promise<ScheduleLook> {
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
      // A damaged time is neither before nor after: it never falls due.
      if (!isTime(dueAt)) continue;
      context.assertWritable();
      const { status, error } = await runSchedule(context, schedule, attempts);
      if (status !== undefined) settled.push({ id, status });
      if (error !== undefined) errors.push({ id, error });
      nextDueAt = Math.min(nextDueAt, attempts.get(id)?.retryAt ?? nextDueAt);
    }
    last = page.at(-1);
    // In the order of their times: what comes after one that is not due is not due either.
    if (last !== undefined && last.dueAt <= context.now()) continue;
    // Those that were settled elsewhere.
    for (const id of attempts.keys()) if (!seen.has(id)) attempts.delete(id);
    return { settled, errors, ...(nextDueAt === Number.POSITIVE_INFINITY ? {} : { nextDueAt }) };
  }
}

/** Runs one schedule; without a status when somebody else settled it, or it is tried again later. */
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
    // Another writer that holds what the change needs ends some day; any other error is one of the change.
    if (count >= most && !(error instanceof StoreBusy)) {
      return { ...(await fail(`It could not be made in ${most} attempts: see the log of the node.`)), error };
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
  // The environment first, as whoever deletes its project does; then the claim.
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
    // Looked up when the schedule runs, in the same transaction.
    permissions: { role: 'viewer', canChangeProtected: false, confirmed: [] },
    note: prefixNote(`Schedule ${id}`, note),
  };
}

/** How often it looks at least, in milliseconds: other nodes' schedules are found this way. */
const LOOK_MS = 5_000;

/** What the runner needs of its node. */
export interface ScheduleRunnerParts {
  readonly context: ManagementContext;
  readonly log: Logger;
  /** Whether the node can take changes; while it cannot, due schedules wait. */
  readonly isReady: () => boolean;
}

/**
 * Makes scheduled changes when they are due: wakes up for the next one it knows of, and looks every five seconds for
 * those that it does not. Every node has one; the store lets each change be made once.
 */
export class ScheduleRunner {
  readonly #parts: ScheduleRunnerParts;
  #timer: Timer | undefined;
  /** When the timer goes off, by the context's clock. */
  #wakeAt = Number.POSITIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #isRunning = false;
  readonly #attempts: FailedAttempts = new Map();

  constructor(parts: ScheduleRunnerParts) {
    this.#parts = parts;
  }

  /** Looks at once, and from then on until {@link close}. */
  start(): void {
    this.#isRunning = true;
    this.#wakeIn(0);
  }

  /** Wakes up for a schedule that was just made. */
  note(dueAt: number): void {
    const delayMs = Math.max(0, dueAt - this.#parts.context.now());
    if (delayMs < LOOK_MS && dueAt < this.#wakeAt) this.#wakeIn(delayMs);
  }

  /** Stops, after the change that is being made. Safe to call twice. */
  async close(): Promise<void> {
    this.#isRunning = false;
    clearTimeout(this.#timer);
    await this.#looking;
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
    if (this.#looking !== undefined) {
      // It may just have missed what is due now: look again when it is through.
      void this.#looking.then(() => this.#wakeIn(0));
      return;
    }
    this.#looking = this.#look().then((delayMs) => {
      this.#looking = undefined;
      if (this.#parts.context.now() + delayMs < this.#wakeAt) this.#wakeIn(delayMs);
    });
  }

  /** Runs what is due; gives how long to wait. Never rejects. */
  async #look(): Promise<number> {
    const { context, log, isReady } = this.#parts;
    if (!isReady()) return LOOK_MS / 5;
    try {
      const { settled, errors, nextDueAt } = await runDueSchedules(context, this.#attempts);
      for (const { id, error } of errors) {
        log.error({ err: error, schedule: id }, 'a scheduled change could not be made');
      }
      for (const { id, status } of settled) log.info({ schedule: id, status }, 'a scheduled change was due');
      if (nextDueAt === undefined) return LOOK_MS;
      return Math.min(LOOK_MS, Math.max(0, nextDueAt - context.now()));
    } catch (err) {
      log.warn({ err }, 'scheduled changes could not be looked at; it is tried again');
      return LOOK_MS;
    }
  }
}
