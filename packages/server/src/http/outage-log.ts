import type { Logger } from 'pino';
import type { StoreOutage } from '../domain/errors.ts';

/** One line in this time tells of all requests that an outage made fail, in milliseconds. */
const PAUSE_MS = 10_000;

/** By log, as every node of a process has its own. */
const stories = new WeakMap<Logger, { nextAt: number; unsaid: number }>();

/** A request that failed because the store was away. */
export interface OutageNote {
  readonly outage: StoreOutage;
  readonly requestId: string;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: number;
}

/**
 * Writes down that a request failed for want of the store, without a stack: an outage is one story, told by the
 * follower, and it heals itself. The first failure is said at once, later ones at most every ten seconds, counted.
 */
export function noteOutage(log: Logger, note: OutageNote): void {
  const { outage, requestId, now = performance.now() } = note;
  const story = stories.get(log) ?? { nextAt: Number.NEGATIVE_INFINITY, unsaid: 0 };
  stories.set(log, story);
  story.unsaid++;
  if (now < story.nextAt) return;
  log.warn(
    { reason: outage.message, requestId, requests: story.unsaid },
    'request failed: the database is out of reach',
  );
  story.nextAt = now + PAUSE_MS;
  story.unsaid = 0;
}
