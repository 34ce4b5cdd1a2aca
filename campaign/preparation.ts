import { ManagementError } from '@halyard/testing';
import { now } from './clock.ts';

/** How long a campaign waits for a fleet that cannot take a preparation yet: a node may still be recovering. */
const PATIENCE_MS = 30_000;

/**
 * Does `work`, which must be safe to repeat, until the fleet takes it. Rejects with a sentence about `step` when the
 * fleet refuses it for good, or for longer than `patienceMs`.
 */
export async function prepare<T>(
  step: string,
  work: () => Promise<T>,
  patienceMs: number = PATIENCE_MS,
): Promise<T> {
  const deadline = now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (cause) {
      if (!mayPass(cause) || now() > deadline) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${step} could not be prepared: ${reason}`, { cause });
      }
      await Bun.sleep(100);
    }
  }
}

/** No answer, or one that blames the server or the moment. */
function mayPass(cause: unknown): boolean {
  return !(cause instanceof ManagementError) || cause.status >= 500 || cause.status === 429;
}
