import { defined } from '@halyard/protocol';
import { ServiceError } from '../domain/errors.ts';
import type { NewWebhook, Webhook, WebhookTransaction, WebhookUpdate } from '../domain/webhook.ts';
import type { Parameter, WriteTransaction } from './database.ts';
import type { Journal } from './journal.ts';
import { SqlWebhookReader, withoutSecrets } from './webhook-reader.ts';

/** Writes of webhooks in one write transaction. Each is recorded in the journal. */
export class SqlWebhookWriter extends SqlWebhookReader implements WebhookTransaction {
  readonly #sql: WriteTransaction;
  readonly #journal: Journal;

  /** Writes through `sql` and records it in `journal`. */
  constructor(sql: WriteTransaction, journal: Journal) {
    super(sql);
    this.#sql = sql;
    this.#journal = journal;
  }

  async insert(webhook: NewWebhook, secret: string): Promise<Webhook> {
    const { id, projectId, name, url, format, environments, events, createdAt } = webhook;
    const inserted = await this.#sql.query(
      `INSERT INTO webhooks (id, project_id, name, url, format, environments, events, secret, status, position,
          deliveries, given_up, failures, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'active', (SELECT seq FROM feed WHERE id = 1), 0, 0, 0, $9)
        ON CONFLICT DO NOTHING RETURNING id`,
      [
        id,
        projectId,
        name,
        url,
        format,
        JSON.stringify(environments),
        JSON.stringify(events),
        secret,
        createdAt,
      ],
    );
    if (inserted.length === 0) {
      throw new ServiceError('already_exists', `The webhook "${name}" already exists: choose another name.`);
    }
    const stored = await this.#stored(webhook);
    this.#note('webhook.created', stored, { after: textOf(stored) });
    return stored;
  }

  async update(webhook: Webhook, changed: WebhookUpdate): Promise<Webhook> {
    const { url, format, environments, events, status, reason } = { ...webhook, ...changed };
    const [before, after] = [textOf(webhook), textOf({ ...webhook, ...changed })];
    const parameters: Parameter[] = [webhook.id, url, format, JSON.stringify(environments)];
    parameters.push(JSON.stringify(events), status, status === 'disabled' ? (reason ?? null) : null);
    const also: string[] = [];
    if (changed.status === 'active' || url !== webhook.url) {
      also.push('failures = 0', 'failing_since = NULL', 'next_attempt_at = NULL');
      // An attempt that is running now is about what was before: without its lease, it records nothing.
      also.push('leased_by = NULL', 'leased_until = NULL');
    }
    // Otherwise the node that delivers moves the position.
    if (changed.cursor !== undefined) also.push(`position = $${parameters.push(changed.cursor)}`);
    await this.#sql.query(
      `UPDATE webhooks SET ${['url = $2', 'format = $3', 'environments = $4', 'events = $5', 'status = $6', 'reason = $7', ...also].join(', ')}
        WHERE id = $1`,
      parameters,
    );
    if (before !== after || url !== webhook.url || changed.cursor !== undefined) {
      const isDisabled = status === 'disabled' && webhook.status !== status;
      this.#note(isDisabled ? 'webhook.disabled' : 'webhook.updated', webhook, { before, after });
    }
    return this.#stored(webhook);
  }

  async rotate(webhook: Webhook, secret: string, until: number): Promise<void> {
    await this.#sql.query(
      `UPDATE webhooks SET previous_secret = secret, previous_secret_until = $3, secret = $2 WHERE id = $1`,
      [webhook.id, secret, until],
    );
    this.#note('webhook.rotated', webhook, {});
  }

  async delete(webhook: Webhook): Promise<void> {
    // A delivering node locks this row first, too: otherwise the two could wait for each other.
    await this.#sql.query('UPDATE webhooks SET status = status WHERE id = $1', [webhook.id]);
    await this.#sql.query('DELETE FROM webhook_deliveries WHERE webhook_id = $1', [webhook.id]);
    await this.#sql.query('DELETE FROM webhooks WHERE id = $1', [webhook.id]);
    this.#note('webhook.deleted', webhook, { before: textOf(webhook) });
  }

  async endOfLog(): Promise<number> {
    const [end] = await this.#sql.query<{ seq: number }>('SELECT seq FROM feed WHERE id = 1');
    return end?.seq ?? 0;
  }

  async #stored({ id }: Pick<Webhook, 'id'>): Promise<Webhook> {
    const stored = await this.target(id);
    if (stored === undefined) throw new Error('the webhook was not stored');
    return withoutSecrets(stored);
  }

  #note(
    action: string,
    { projectId, name }: Webhook,
    texts: { readonly before?: string; readonly after?: string },
  ): void {
    this.#journal.audit({ action, projectId, target: name, ...texts });
  }
}

/** A webhook for the audit log, which all viewers can read: only the origin of its address, as the rest may be a secret. */
function textOf({ name, url, format, environments, events, status, reason }: Webhook): string {
  return JSON.stringify({
    ...{ name, origin: new URL(url).origin, format, environments, events, status },
    ...defined({ reason: status === 'disabled' ? reason : undefined }),
  });
}
