import { sleep } from './abort.ts';
import { Backoff } from './backoff.ts';
import type { Connection } from './connection.ts';
import { isRefusal } from './request.ts';

/** Loads the flags every interval (give or take a tenth, so that clients spread) until the connection is closed. */
export async function pollForever(connection: Connection): Promise<void> {
  const { target, signal, health } = connection;
  const { platform, pollIntervalMs } = target;
  const backoff = new Backoff(platform.random);
  while (!signal.aborted) {
    const { error } = await connection.load();
    let delayMs = pollIntervalMs * (0.9 + platform.random() / 5);
    if (error) {
      health.fail();
      const retryMs = backoff.next({ isRefusal: isRefusal(error), retryAfterMs: error.retryInMs });
      delayMs = isRefusal(error) || error.retryInMs ? retryMs : Math.min(retryMs, delayMs);
    } else backoff.reset();
    await sleep(platform, delayMs, signal);
  }
}
