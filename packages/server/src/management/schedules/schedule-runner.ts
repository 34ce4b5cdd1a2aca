import type { Logger } from 'pino';
import type { ManagementContext } from '../context.ts';
import { type FailedAttempts, runDueSchedules } from './run-schedules.ts';

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
