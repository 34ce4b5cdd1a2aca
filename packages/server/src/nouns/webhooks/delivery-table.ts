import { CLOCK_TOLERANCE_MS, HOUR_MS } from '../../domain/clock.ts';
import type { Queryable } from '../../storage/database.ts';
import { type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';
import type { UnloggedTx } from '../../storage/tx.ts';
import {
  COUNTED_HOURS,
  KEPT_DELIVERIES,
  LEASE_MS,
  type Lease,
  LONGEST_PAUSE_MS,
  type PendingWebhook,
  type Settlement,
  type Webhook,
  type WebhookDelivery,
  type WebhookTarget,
} from './webhook.ts';
import { PENDING_SINCE, type TargetRow, toTarget, WEBHOOK_COLUMNS } from './webhook-table.ts';

/** Most webhooks that one poll for work returns. */
const PENDING = 500;

/**
 * Active webhooks of these projects and of the installation, or of all, with changes to deliver; those that wait longest first. A lease or a next
 * attempt that is farther ahead of `now` than a right clock could set it is left out.
 */
export async function readPending(
  db: Queryable,
  { node, now, projects }: Pick<Lease, 'node' | 'now'> & { readonly projects?: readonly string[] },
): Promise<readonly PendingWebhook[]> {
  const chosen =
    projects === undefined
      ? ''
      : `AND (project_id IS NULL OR project_id IN (${placeholders(projects.length, 3)}))`;
  const rows = await db.query<NullableColumns<PendingWebhook>>(
    `SELECT * FROM (SELECT id, ${PENDING_SINCE} AS "pendingSince",
        CASE WHEN next_attempt_at <= $3 THEN next_attempt_at END AS "nextAttemptAt",
        CASE WHEN leased_by <> $1 AND leased_until <= $2 THEN leased_until END AS "leasedUntil"
      FROM webhooks WHERE status = 'active' ${chosen}) AS active
      WHERE "pendingSince" IS NOT NULL ORDER BY COALESCE("nextAttemptAt", 0), "pendingSince" LIMIT ${PENDING}`,
    [node, latestLease(now), latestAttempt(now), ...(projects ?? [])],
  );
  return rows.map(withoutNulls<PendingWebhook>);
}

/** Takes or renews the lease; `undefined` while another node has it, and for a webhook that is not active. */
export async function takeLease(
  tx: UnloggedTx,
  { id, node, now, until }: Lease,
): Promise<WebhookTarget | undefined> {
  const [row] = await tx.query<TargetRow>(
    `UPDATE webhooks SET leased_by = $2, leased_until = $4 WHERE id = $1 AND status = 'active'
      AND (leased_by = $2 OR leased_until IS NULL OR leased_until <= $3 OR leased_until > $5)
      AND (next_attempt_at IS NULL OR next_attempt_at <= $3 OR next_attempt_at > $6)
      RETURNING ${WEBHOOK_COLUMNS}`,
    [id, node, now, until, latestLease(now), latestAttempt(now)],
  );
  return row && toTarget(row);
}

/** Writes down an attempt and renews the lease. `undefined` when this node has lost it: nothing is written then. */
export async function settleLease(
  tx: UnloggedTx,
  { id, node, until }: Lease,
  settlement: Settlement,
): Promise<WebhookTarget | undefined> {
  const { from, cursor, failures, failingSince, nextAttemptAt, givenUp = 0, deliveries } = settlement;

  const [row] = await tx.query<TargetRow>(
    `UPDATE webhooks SET position = $4, failures = $5, failing_since = $6, next_attempt_at = $7,
        given_up = given_up + $8, deliveries = deliveries + $9, leased_until = $10
      WHERE id = $1 AND leased_by = $2 AND position = $3 RETURNING ${WEBHOOK_COLUMNS}`,
    [
      id,
      node,
      from,
      cursor,
      failures,
      failingSince ?? null,
      nextAttemptAt ?? null,
      givenUp,
      deliveries.length,
      until,
    ],
  );
  if (row === undefined) return undefined;

  const target = toTarget(row);
  await writeDeliveries(tx, target, deliveries);
  return target;
}

/** Gives up the leases of a node, so that others need not wait for their end. */
export async function releaseLeases(tx: UnloggedTx, node: string): Promise<void> {
  await tx.query('UPDATE webhooks SET leased_by = NULL, leased_until = NULL WHERE leased_by = $1', [node]);
}

/** The attempts that are kept, newest first. */
export async function readDeliveries(db: Queryable, id: string): Promise<readonly WebhookDelivery[]> {
  const rows = await db.query<NullableColumns<WebhookDelivery>>(
    `SELECT number, seq, message_id AS "messageId", cause AS "trigger", outcome, at,
        duration_ms AS "durationMs", status, error, answer
      FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY number DESC`,
    [id],
  );
  return rows.map(withoutNulls<WebhookDelivery>);
}

/** Writes down a test or a replay; returns it with its number. `undefined` for a webhook that was deleted. */
export async function insertDelivery(
  tx: UnloggedTx,
  id: string,
  delivery: Omit<WebhookDelivery, 'number'>,
): Promise<WebhookDelivery | undefined> {
  const [row] = await tx.query<Pick<Webhook, 'id' | 'deliveries'>>(
    'UPDATE webhooks SET deliveries = deliveries + 1 WHERE id = $1 RETURNING id, deliveries',
    [id],
  );
  if (row === undefined) return undefined;

  await writeDeliveries(tx, row, [delivery]);
  return { ...delivery, number: row.deliveries };
}

/** Adds the attempts, the last of which has the number `deliveries`, and removes the oldest beyond the limit. */
async function writeDeliveries(
  tx: UnloggedTx,
  { id, deliveries: newest }: Pick<Webhook, 'id' | 'deliveries'>,
  added: readonly Omit<WebhookDelivery, 'number'>[],
): Promise<void> {
  for (const [index, delivery] of added.entries()) {
    const { seq, messageId, trigger, outcome, at, durationMs, status, error, answer } = delivery;
    await tx.query(
      `INSERT INTO webhook_deliveries
          (webhook_id, number, seq, message_id, cause, outcome, at, duration_ms, status, error, answer)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        id,
        newest - added.length + index + 1,
        seq ?? null,
        messageId,
        trigger,
        outcome,
        at,
        durationMs,
        status ?? null,
        error ?? null,
        answer ?? null,
      ],
    );
    await countAttempt(tx, id, delivery);
  }

  if (added.length === 0) return;
  await tx.query('DELETE FROM webhook_deliveries WHERE webhook_id = $1 AND number <= $2', [
    id,
    newest - KEPT_DELIVERIES,
  ]);
}

/** Counts an attempt in its hour, and forgets the hours that are not shown: older ones, and those of a clock that was ahead. */
async function countAttempt(
  tx: UnloggedTx,
  id: string,
  { outcome, at }: Pick<WebhookDelivery, 'outcome' | 'at'>,
): Promise<void> {
  if (outcome === 'given-up') return;
  const hour = Math.floor(at / HOUR_MS);

  await tx.query(
    `INSERT INTO webhook_hours (webhook_id, hour, delivered, failed) VALUES ($1, $2, $3, $4)
      ON CONFLICT (webhook_id, hour) DO UPDATE SET
        delivered = webhook_hours.delivered + excluded.delivered, failed = webhook_hours.failed + excluded.failed`,
    [id, hour, outcome === 'delivered' ? 1 : 0, outcome === 'failed' ? 1 : 0],
  );
  await tx.query('DELETE FROM webhook_hours WHERE webhook_id = $1 AND (hour <= $2 OR hour > $3)', [
    id,
    hour - COUNTED_HOURS,
    hour,
  ]);
}

/** The last time at which a lease can honestly end. */
function latestLease(now: number): number {
  return now + LEASE_MS + CLOCK_TOLERANCE_MS;
}

/** The last time for which a next attempt can honestly be planned. */
function latestAttempt(now: number): number {
  return now + LONGEST_PAUSE_MS + CLOCK_TOLERANCE_MS;
}
