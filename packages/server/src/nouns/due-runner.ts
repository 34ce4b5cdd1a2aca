import { defined } from '@halyard/protocol';
import type { Logger } from 'pino';
import { Alarm } from '../domain/alarm.ts';
import type { Actor } from '../domain/audit.ts';
import { ServiceError, StoreBusy, StoreOutage } from '../domain/errors.ts';
import { isTime } from '../domain/iso-time.ts';
import type { ManagementContext } from '../management/context.ts';
import type { Queryable } from '../storage/database.ts';

/** The result of one run over the due records of a kind. */
export interface DueRun<Status extends string> {
  /** Due ones that this call moved, with their status since. */
  readonly settled: readonly { readonly id: string; readonly status: Status }[];
  /** Attempts that failed with an unexpected error, rather than a refusal. */
  readonly errors: readonly { readonly id: string; readonly error: unknown }[];
  /** When the next one is due or retried, in epoch milliseconds; absent when none is pending. */
  readonly nextDueAt?: number;
}

/** How often each record has failed on this node, and when it is retried. */
export type FailedAttempts = Map<string, { readonly count: number; readonly retryAt: number }>;

/** Attempts for a record that fails unexpectedly, and the pause after the first one; it doubles each time. */
export const DUE_ATTEMPTS = { most: 5, pauseMs: 5_000 } as const;

/** Another node has run it, or it was canceled, paused or stopped: the transaction is rolled back. */
export class AlreadySettled extends Error {
  override readonly name = 'AlreadySettled';
}

/** The author of a change that runs by itself. The rights that it has then replace these in the transaction. */
export function dueAuthor(name: string, note: string): Actor {
  return { name, permissions: { role: 'viewer', canChangeProtected: false, confirmed: [] }, note };
}

/** A record that runs at its time. */
interface Due {
  readonly id: string;
  readonly dueAt?: number;
}

/** How one kind of due record is read and run. */
export interface DueKind<Record extends Due, Status extends string> {
  /** The next ones after `last`, by due time. */
  readonly next: (db: Queryable, last: Record | undefined) => Promise<readonly Record[]>;
  /** Runs one in a transaction of its own; returns its status since. Throws {@link AlreadySettled}, or a refusal. */
  readonly run: (record: Record) => Promise<Status>;
  /** Records a refusal; `undefined` when another node was first. */
  readonly fail: (record: Record, outcome: string) => Promise<Status | undefined>;
}

/**
 * Runs all due records of one kind, the oldest first. Any number of nodes may do this at once: a record is claimed and its change
 * made in one transaction, so it runs once. After an unexpected error it is retried as counted in `attempts`, and fails in
 * the end; the others do not wait for it. Rejects when the store is unreachable; due records then stay as they are.
 */
export async function runDue<Record extends Due, Status extends string>(
  context: ManagementContext,
  attempts: FailedAttempts,
  kind: DueKind<Record, Status>,
): Promise<DueRun<Status>> {
  const settled: { id: string; status: Status }[] = [];
  const errors: { id: string; error: unknown }[] = [];
  let nextDueAt = Number.POSITIVE_INFINITY;
  const seen = new Set<string>();
  let last: Record | undefined;

  for (;;) {
    const page = await context.store.read((db) => kind.next(db, last));
    for (const record of page) {
      const { id, dueAt } = record;
      seen.add(id);
      // A record with a damaged time is never due.
      if (!isTime(dueAt)) continue;

      const dueNow = Math.max(dueAt, retryOf(attempts.get(id), context.now()));
      if (dueNow > context.now()) {
        nextDueAt = Math.min(nextDueAt, dueNow);
        continue;
      }

      context.assertWritable();
      const { status, error } = await runOne(context, record, { attempts, kind });
      if (status !== undefined) settled.push({ id, status });
      if (error !== undefined) errors.push({ id, error });
      nextDueAt = Math.min(nextDueAt, attempts.get(id)?.retryAt ?? nextDueAt);
    }

    last = page.at(-1);
    // Sorted by due time: those after one that is not due are not due either.
    if (last !== undefined && (last.dueAt ?? 0) <= context.now()) continue;

    // Forget those that were settled elsewhere.
    for (const id of attempts.keys()) if (!seen.has(id)) attempts.delete(id);
    return { settled, errors, ...(nextDueAt === Number.POSITIVE_INFINITY ? {} : { nextDueAt }) };
  }
}

/** When a record is retried; at once if the clock was ahead when that was planned. */
function retryOf({ retryAt } = { retryAt: 0 }, now: number): number {
  const { most, pauseMs } = DUE_ATTEMPTS;
  return retryAt <= now + pauseMs * 2 ** most ? retryAt : 0;
}

/** Runs one record; without a status when another node moved it, or it will be retried. */
async function runOne<Record extends Due, Status extends string>(
  context: ManagementContext,
  record: Record,
  { attempts, kind }: { readonly attempts: FailedAttempts; readonly kind: DueKind<Record, Status> },
): Promise<{ readonly status?: Status; readonly error?: unknown }> {
  const { id } = record;
  const at = context.now();
  const fail = async (outcome: string) => {
    const status = await kind.fail(record, outcome);
    attempts.delete(id);
    return defined({ status });
  };

  try {
    const status = await kind.run(record);
    attempts.delete(id);
    return { status };
  } catch (error) {
    if (error instanceof AlreadySettled) {
      attempts.delete(id);
      return {};
    }
    if (error instanceof ServiceError && error.code !== 'internal_error') return fail(error.message);
    if (error instanceof StoreOutage || error instanceof ServiceError) throw error;

    const count = (attempts.get(id)?.count ?? 0) + 1;
    const { most, pauseMs } = DUE_ATTEMPTS;
    // A busy store is retried without limit: the other writer ends. Any other error is one of the change.
    if (count >= most && !(error instanceof StoreBusy)) {
      const outcome = `The change failed ${most} times with an unexpected error. An administrator can find it in the server log.`;
      return { ...(await fail(outcome)), error };
    }
    attempts.set(id, { count, retryAt: at + pauseMs * 2 ** (Math.min(count, most) - 1) });
    return { error };
  }
}

/** Milliseconds between two polls, which find what other nodes accepted. */
const POLL_MS = 5_000;

/** The parts of a {@link DueRunner}. */
export interface DueRunnerParts {
  readonly context: ManagementContext;
  readonly log: Logger;
  /** Whether the node accepts changes; otherwise what is due waits. */
  readonly isReady: () => boolean;
}

/**
 * Runs the records of one noun when they are due: wakes up for the next known one, and polls every five seconds for others.
 * Every node has a runner; the store makes sure that each record runs once.
 */
export class DueRunner {
  readonly #noun: string;
  readonly #runAll: (context: ManagementContext, attempts: FailedAttempts) => Promise<DueRun<string>>;
  readonly #parts: DueRunnerParts;
  readonly #alarm = new Alarm();
  readonly #attempts: FailedAttempts = new Map();
  #isRunning = false;
  #running: Promise<void> | undefined;
  /** When the runner wakes up by itself, by the context's clock. Later than anything during a poll, which may miss what is new. */
  #wakesAt = Number.POSITIVE_INFINITY;

  /** Runs what `runAll` finds; `noun` names it in the server log. */
  constructor(
    noun: string,
    runAll: (context: ManagementContext, attempts: FailedAttempts) => Promise<DueRun<string>>,
    parts: DueRunnerParts,
  ) {
    this.#noun = noun;
    this.#runAll = runAll;
    this.#parts = parts;
  }

  /** Polls at once, and from then on until {@link close}. */
  start(): void {
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** Wakes up for a record that was just created. */
  note(dueAt: number): void {
    if (dueAt < this.#wakesAt) this.#alarm.ring();
  }

  /** Stops, after the record that is running. Safe to call twice. */
  async close(): Promise<void> {
    this.#isRunning = false;
    this.#alarm.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      const delayMs = await this.#poll();
      this.#wakesAt = this.#parts.context.now() + delayMs;
      await this.#alarm.wait(performance.now() + delayMs);
      this.#wakesAt = Number.POSITIVE_INFINITY;
    }
  }

  /** Runs what is due; returns how long to wait. Never rejects. */
  async #poll(): Promise<number> {
    const { context, log, isReady } = this.#parts;
    const noun = this.#noun;
    if (!isReady()) return POLL_MS / 5;

    try {
      const { settled, errors, nextDueAt = Infinity } = await this.#runAll(context, this.#attempts);
      for (const { id, error } of errors)
        log.error({ err: error, [noun]: id }, `due ${noun} failed unexpectedly`);
      for (const { id, status } of settled) log.info({ [noun]: id, status }, `due ${noun} handled`);
      return Math.min(POLL_MS, Math.max(0, nextDueAt - context.now()));
    } catch (err) {
      log.warn({ err }, `cannot read due ${noun}s; retrying`);
      return POLL_MS;
    }
  }
}
