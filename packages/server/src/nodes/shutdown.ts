import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Longest a stopping node waits for each of its last writes, in milliseconds: a silent database must not hold it up. */
const LAST_WRITES_MS = 1000;

/** One step of a shutdown. */
export interface ShutdownStep {
  /** The name in the log if the step fails. */
  readonly name: string;
  /** `brief` steps write to the database, and are given up after a second. */
  readonly kind?: 'brief';
  readonly run: () => unknown;
}

/** Runs every step in order. A step that fails is logged and does not stop the ones after it. Never rejects. */
export async function shutDown(log: Logger, steps: readonly ShutdownStep[]): Promise<void> {
  for (const { name, kind, run } of steps) {
    try {
      const work = Promise.resolve(run());
      await (kind === 'brief'
        ? Promise.race([work, sleep(LAST_WRITES_MS, undefined, { ref: false })])
        : work);
    } catch (err) {
      log.error({ err, step: name }, 'a step of the shutdown failed');
    }
  }
}
