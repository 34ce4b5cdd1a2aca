import { CLOCK_TOLERANCE_MS } from '../domain/clock.ts';
import {
  KEPT_DELIVERIES,
  LEASE_MS,
  type Lease,
  LONGEST_PAUSE_MS,
  type PendingWebhook,
  type Settlement,
  type Webhook,
  type WebhookDelivery,
  type WebhookStore,
  type WebhookTarget,
} from '../domain/webhook.ts';
import type { Database, WriteTransaction } from './database.ts';
import { type NullableColumns, placeholders, withoutNulls } from './rows.ts';
import {
  PENDING_SINCE,
  SCANNED,
  scopeOf,
  type TargetRow,
  toTarget,
  WEBHOOK_COLUMNS,
  waitingEntries,
} from './webhook-reader.ts';

/** Most webhooks that one poll for work returns. */
const PENDING = 500;

/** Deliveries of webhooks outside the log, on either engine. */
export class SqlWebhookStore implements WebhookStore {
  readonly #database: Database;

  /** Writes to `database`, whose schema must be current. */
  constructor(database: Database) {
    this.#database = database;
  }

  async pending(node: string, now: number, projects?: readonly string[]): Promise<readonly PendingWebhook[]> {
    const chosen = projects === undefined ? '' : `AND project_id IN (${placeholders(projects.length, 3)})`;
    const rows = await this.#database.query<NullableColumns<PendingWebhook>>(
      `SELECT * FROM (SELECT id, ${PENDING_SINCE} AS "pendingSince",
          CASE WHEN next_attempt_at <= $3 THEN next_attempt_at END AS "nextAttemptAt",
          CASE WHEN leased_by <> $1 AND leased_until <= $2 THEN leased_until END AS "leasedUntil"
        FROM webhooks WHERE status = 'active' ${chosen}) AS active
        WHERE "pendingSince" IS NOT NULL ORDER BY COALESCE("nextAttemptAt", 0), "pendingSince" LIMIT ${PENDING}`,
      [node, latestLease(now), latestAttempt(now), ...(projects ?? [])],
    );
    return rows.map(withoutNulls<PendingWebhook>);
  }

  async lease({ id, node, now, until }: Lease): Promise<WebhookTarget | undefined> {
    const rows = await this.#database.transaction((transaction) =>
      transaction.query<TargetRow>(
        `UPDATE webhooks SET leased_by = $2, leased_until = $4 WHERE id = $1 AND status = 'active'
          AND (leased_by = $2 OR leased_until IS NULL OR leased_until <= $3 OR leased_until > $5)
          AND (next_attempt_at IS NULL OR next_attempt_at <= $3 OR next_attempt_at > $6)
          RETURNING ${WEBHOOK_COLUMNS}`,
        [id, node, now, until, latestLease(now), latestAttempt(now)],
      ),
    );
    return rows.map(toTarget)[0];
  }

  async settle({ id, node, until }: Lease, settlement: Settlement): Promise<WebhookTarget | undefined> {
    const { from, cursor, failures, failingSince, nextAttemptAt, givenUp = 0, deliveries } = settlement;
    return this.#database.transaction(async (transaction) => {
      const rows = await transaction.query<TargetRow>(
        `UPDATE webhooks SET position = $4, failures = $5, failing_since = $6, next_attempt_at = $7,
            given_up = given_up + $8, deliveries = deliveries + $9, leased_until = $10
          WHERE id = $1 AND leased_by = $2 AND position = $3 RETURNING ${WEBHOOK_COLUMNS}`,
        [
          ...[id, node, from, cursor, failures, failingSince ?? null, nextAttemptAt ?? null],
          ...[givenUp, deliveries.length, until],
        ],
      );
      const target = rows.map(toTarget)[0];
      if (target !== undefined) await writeDeliveries(transaction, target, deliveries);
      return target;
    });
  }

  record(id: string, delivery: Omit<WebhookDelivery, 'number'>): Promise<WebhookDelivery | undefined> {
    return this.#database.transaction(async (transaction) => {
      const [row] = await transaction.query<Pick<Webhook, 'id' | 'deliveries'>>(
        'UPDATE webhooks SET deliveries = deliveries + 1 WHERE id = $1 RETURNING id, deliveries',
        [id],
      );
      if (row === undefined) return undefined;
      await writeDeliveries(transaction, row, [delivery]);
      return { ...delivery, number: row.deliveries };
    });
  }

  async olderThan(
    webhook: Webhook,
    before: number,
  ): Promise<{ readonly count: number; readonly cursor: number }> {
    const { condition, parameters } = scopeOf(webhook);
    const waiting = waitingEntries(webhook.cursor, SCANNED.olderThan, parameters);
    const young = `SELECT min(seq) FROM waiting WHERE at > $${parameters.push(before)}`;
    // The first change that is not older ends them, so that the clocks of several writers skip nothing.
    const [found] = await this.#database.query<{ count: number; last: number | null }>(
      `WITH waiting AS (${waiting})
        SELECT count(DISTINCT COALESCE(operation_seq, seq)) AS count, max(COALESCE(operation_seq, seq)) AS last
          FROM waiting AS audit_log
          WHERE ${condition} AND seq < COALESCE((${young}), ${Number.MAX_SAFE_INTEGER})`,
      parameters,
    );
    return { count: found?.count ?? 0, cursor: found?.last ?? webhook.cursor };
  }

  async release(node: string): Promise<void> {
    await this.#database.transaction((transaction) =>
      transaction.query('UPDATE webhooks SET leased_by = NULL, leased_until = NULL WHERE leased_by = $1', [
        node,
      ]),
    );
  }
}

/** The last time at which a lease can honestly end. */
const latestLease = (now: number) => now + LEASE_MS + CLOCK_TOLERANCE_MS;

/** The last time for which a next attempt can honestly be planned. */
const latestAttempt = (now: number) => now + LONGEST_PAUSE_MS + CLOCK_TOLERANCE_MS;

/** Adds the attempts, the last of which has the number `deliveries`, and removes the oldest beyond the limit. */
async function writeDeliveries(
  transaction: WriteTransaction,
  { id, deliveries: newest }: Pick<Webhook, 'id' | 'deliveries'>,
  added: readonly Omit<WebhookDelivery, 'number'>[],
): Promise<void> {
  for (const [index, delivery] of added.entries()) {
    const { seq, messageId, trigger, outcome, at, durationMs, status, error, answer } = delivery;
    await transaction.query(
      `INSERT INTO webhook_deliveries
          (webhook_id, number, seq, message_id, cause, outcome, at, duration_ms, status, error, answer)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        ...[id, newest - added.length + index + 1, seq ?? null, messageId, trigger, outcome, at, durationMs],
        ...[status ?? null, error ?? null, answer ?? null],
      ],
    );
  }
  if (added.length === 0) return;
  await transaction.query('DELETE FROM webhook_deliveries WHERE webhook_id = $1 AND number <= $2', [
    id,
    newest - KEPT_DELIVERIES,
  ]);
}
