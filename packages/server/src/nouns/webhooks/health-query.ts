import { defined } from '@halyard/protocol';
import { HOUR_MS } from '../../domain/clock.ts';
import { shorten } from '../../domain/text.ts';
import type { Queryable } from '../../storage/database.ts';
import { type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';
import { readWaiting } from './message-query.ts';
import { COUNTED_HOURS, type Webhook, type WebhookHealth, type WebhookHour } from './webhook.ts';

/** Characters of an answer that a webhook's record shows; the deliveries have more of it. */
const SHOWN_ANSWER = 200;

/**
 * The webhooks with how they are doing at `now`, epoch milliseconds. Only those for which changes wait are counted, and only
 * those that fail are asked for the reason.
 */
export async function readHealth(
  db: Queryable,
  webhooks: readonly Webhook[],
  now: number,
): Promise<readonly WebhookHealth[]> {
  const hours = await readHours(db, webhooks, now);
  const described: WebhookHealth[] = [];
  for (const webhook of webhooks) {
    const lastFailure = webhook.failures > 0 ? await readFailure(db, webhook.id) : undefined;
    described.push({
      ...(await withWaiting(db, webhook)),
      ...defined({ lastFailure }),
      hours: hours.get(webhook.id) ?? [],
    });
  }
  return described;
}

/** The entries after the position need not be for this webhook: what waits since when is what it delivers. */
async function withWaiting(
  db: Queryable,
  { pendingSince, ...webhook }: Webhook,
): Promise<Omit<WebhookHealth, 'hours'>> {
  if (pendingSince === undefined) return { ...webhook, pendingCount: 0 };

  const { count, since, isAll } = await readWaiting(db, webhook);
  const known = since ?? (isAll ? undefined : pendingSince);
  return {
    ...webhook,
    pendingCount: count,
    ...(isAll ? {} : { pendingMore: true }),
    ...defined({ pendingSince: known }),
  };
}

/** An attempt as its table has it. */
type Failure = Omit<NonNullable<WebhookHealth['lastFailure']>, 'changed'>;

async function readFailure(db: Queryable, id: string): Promise<WebhookHealth['lastFailure']> {
  const [found] = await db.query<NullableColumns<Failure>>(
    `SELECT seq, at, status, error, answer FROM webhook_deliveries
      WHERE webhook_id = $1 AND cause = 'change' AND outcome = 'failed' ORDER BY number DESC LIMIT 1`,
    [id],
  );
  if (found === undefined) return undefined;

  const { answer, ...failure } = withoutNulls<Failure>(found);
  return { ...failure, ...(answer === undefined ? {} : { answer: shorten(answer, SHOWN_ANSWER) }) };
}

async function readHours(
  db: Queryable,
  webhooks: readonly Webhook[],
  now: number,
): Promise<ReadonlyMap<string, WebhookHour[]>> {
  if (webhooks.length === 0) return new Map();
  const hour = Math.floor(now / HOUR_MS);

  const rows = await db.query<WebhookHour & { readonly id: string }>(
    `SELECT webhook_id AS id, hour * ${HOUR_MS} AS at, delivered, failed FROM webhook_hours
      WHERE hour > $1 AND hour <= $2 AND webhook_id IN (${placeholders(webhooks.length, 2)}) ORDER BY hour`,
    [hour - COUNTED_HOURS, hour, ...webhooks.map(({ id }) => id)],
  );
  return Map.groupBy(
    rows.map(({ id, at, delivered, failed }) => ({ id, at, delivered, failed })),
    ({ id }) => id,
  );
}
