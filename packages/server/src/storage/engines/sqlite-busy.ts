import { StoreBusy } from '../../domain/errors.ts';

/** How long one caller waits for another process to let go of the file. */
const PATIENCE_MS = 3_000;

/**
 * Runs `attempt` until it no longer throws SQLITE_BUSY, waiting in between without holding up the event loop, for
 * three seconds at most unless told otherwise. Two tries are 1 to 30 ms apart.
 */
export async function retryWhileBusy<T>(attempt: () => T, patienceMs = PATIENCE_MS): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 30)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await Bun.sleep(pauseMs);
    }
  }
}

/** {@link retryWhileBusy} for an operation of the store. Rejects with {@link StoreBusy} when it waited in vain. */
export async function waitWhileBusy<T>(attempt: () => T): Promise<T> {
  try {
    return await retryWhileBusy(attempt);
  } catch (error) {
    throw isBusy(error) ? new StoreBusy('another process holds the database file', { cause: error }) : error;
  }
}

/** Whether another connection holds the file, so that trying again makes sense. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}
