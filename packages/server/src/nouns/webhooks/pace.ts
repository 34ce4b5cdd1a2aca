import { HOUR_MS } from '../../domain/clock.ts';
import type { Settlement, WebhookTarget } from './webhook.ts';
import type { Attempt } from './webhook-sender.ts';

/** How deliveries are retried. Times in milliseconds. */
export const WEBHOOK_RETRIES = {
  /** The first pause; it doubles with each failure, up to the longest, and varies by a fifth. */
  firstMs: 5_000,
  longestMs: 15 * 60_000,
  /** A change is given up after this time. Time in which no node runs does not count, here and below. */
  giveUpMs: 24 * HOUR_MS,
  /** A webhook that failed for this long is switched off. */
  disableMs: 5 * 24 * HOUR_MS,
} as const;

/** What a failed attempt changes about its webhook, which stays at its position; `random` is from 0 to 1. */
export function afterFailure(
  { cursor, failures: before, failingSince: since, nextAttemptAt: planned }: WebhookTarget,
  { at, retryAfterMs = 0 }: Attempt,
  { now, random }: { readonly now: number; readonly random: number },
): Required<Pick<Settlement, 'cursor' | 'failures' | 'failingSince' | 'nextAttemptAt'>> {
  const failures = before + 1;
  // Time in which no node tried, such as a night without power, is not time of failing.
  const idleMs = Math.max(0, at - (planned ?? at));
  const failingSince = Math.min(since ?? now, now) + idleMs;
  // PostgreSQL refuses fractions of a millisecond.
  const nextAttemptAt = Math.ceil(now + Math.max(pauseAfter(failures, random), retryAfterMs));
  return { cursor, failures, failingSince, nextAttemptAt };
}

function pauseAfter(failures: number, random: number): number {
  const { firstMs, longestMs } = WEBHOOK_RETRIES;
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs) * (0.8 + 0.4 * random);
}

/** Why a webhook is switched off after a failed attempt; `undefined` while it is not. */
export function whyDisabled(failingSince: number, { status }: Attempt, now: number): string | undefined {
  if (status === 410) return 'The receiver answered 410: it wants no more messages.';
  if (now - failingSince < WEBHOOK_RETRIES.disableMs) return undefined;
  return `Every attempt failed for ${WEBHOOK_RETRIES.disableMs / (24 * HOUR_MS)} days.`;
}
