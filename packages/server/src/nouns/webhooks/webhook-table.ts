import type { WebhookEvents } from '@halyard/protocol';
import type { Parameter, Queryable } from '../../storage/database.ts';
import { insertNew, type NullableColumns, parseTextList, withoutNulls } from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';
import type { NewWebhook, Webhook, WebhookTarget, WebhookUpdate } from './webhook.ts';

/** A webhook with its secrets, as {@link WEBHOOK_COLUMNS} read it. */
export type TargetRow = NullableColumns<Omit<WebhookTarget, 'environments' | 'events'>> &
  Readonly<Record<'environments' | 'events', string>>;

const firstWaiting = (scope: string) =>
  `(SELECT audit_log.at FROM audit_log WHERE ${scope} audit_log.seq > webhooks.position ORDER BY audit_log.seq LIMIT 1)`;

/** When the first entry after a webhook's position was written: of its project, or of the installation. */
export const PENDING_SINCE = `CASE WHEN webhooks.project_id IS NULL THEN ${firstWaiting('')}
    ELSE ${firstWaiting('audit_log.project_id = webhooks.project_id AND')} END`;

/** The webhooks of the project with the id $1; of the installation, if that is empty. */
const IN_PLACE = `(project_id = $1 OR (project_id IS NULL AND $1 = ''))`;

/** The columns of a {@link TargetRow}. */
export const WEBHOOK_COLUMNS = `id, COALESCE(project_id, '') AS "projectId", name, url, format, environments, events, status, reason,
  position AS cursor, deliveries, given_up AS "givenUp", failures, failing_since AS "failingSince",
  next_attempt_at AS "nextAttemptAt", previous_secret_until AS "previousSecretUntil", created_at AS "createdAt",
  secret, previous_secret AS "previousSecret", ${PENDING_SINCE} AS "pendingSince",
  (SELECT projects.name FROM projects WHERE projects.id = webhooks.project_id) AS project`;

/** The record of a row. */
export function toTarget({ environments, events, ...row }: TargetRow): WebhookTarget {
  return {
    ...withoutNulls<Omit<WebhookTarget, 'environments' | 'events'>>(row),
    environments: parseTextList(environments),
    // `WebhookEvents`: only they are stored; another text matches no action.
    events: parseTextList(events) as readonly WebhookEvents[],
  };
}

/** The webhooks of a project by name, without their secrets; of the installation for an empty id. */
export async function readWebhooks(db: Queryable, projectId: string): Promise<readonly Webhook[]> {
  const found = await readTargets(db, `WHERE ${IN_PLACE}`, [projectId]);
  return found.map(withoutSecrets).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** One webhook, without its secrets. */
export async function readWebhook(
  db: Queryable,
  projectId: string,
  name: string,
): Promise<Webhook | undefined> {
  const [found] = await readTargets(db, `WHERE ${IN_PLACE} AND name = $2`, [projectId, name]);
  return found && withoutSecrets(found);
}

/** One webhook with its secrets. */
export async function readTarget(db: Queryable, id: string): Promise<WebhookTarget | undefined> {
  const [found] = await readTargets(db, 'WHERE id = $1', [id]);
  return found;
}

async function readTargets(
  db: Queryable,
  condition: string,
  parameters: readonly Parameter[],
): Promise<WebhookTarget[]> {
  const rows = await db.query<TargetRow>(`SELECT ${WEBHOOK_COLUMNS} FROM webhooks ${condition}`, parameters);
  return rows.map(toTarget);
}

function withoutSecrets({
  secret: _,
  previousSecret: _previous,
  project: _project,
  ...webhook
}: WebhookTarget): Webhook {
  return webhook;
}

/** Inserts a webhook, which starts with the changes after it. `already_exists` when its place has a webhook of that name. */
export async function insertWebhook(tx: Tx, webhook: NewWebhook, secret: string): Promise<Webhook> {
  const { id, projectId, name, url, format, environments, events, createdAt } = webhook;

  const row = await insertNew<TargetRow>(
    tx,
    `webhook "${name}"`,
    `INSERT INTO webhooks (id, project_id, name, url, format, environments, events, secret, status, position,
        deliveries, given_up, failures, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'active', (SELECT seq FROM feed WHERE id = 1), 0, 0, 0, $9)
      ON CONFLICT DO NOTHING RETURNING ${WEBHOOK_COLUMNS}`,
    [
      id,
      projectId === '' ? null : projectId,
      name,
      url,
      format,
      JSON.stringify(environments),
      JSON.stringify(events),
      secret,
      createdAt,
    ],
  );

  const stored = withoutSecrets(toTarget(row));
  note(tx, 'webhook.created', stored, { after: textOf(stored) });
  return stored;
}

/** Locks a webhook: no attempt moves its position until the transaction ends. */
export async function lockWebhook(tx: Tx, id: string): Promise<void> {
  await tx.query('UPDATE webhooks SET name = name WHERE id = $1', [id]);
}

/** As {@link lockWebhook}, for those of a project. */
export async function lockWebhooks(tx: Tx, projectId: string): Promise<void> {
  for (const { id } of await readWebhooks(tx, projectId)) await lockWebhook(tx, id);
}

/**
 * Writes settings and status. `cursor` moves the position forward. That, `active` and another address forget failures and end
 * the lease.
 */
export async function storeWebhook(tx: Tx, webhook: Webhook, changed: WebhookUpdate): Promise<Webhook> {
  const next = { ...webhook, ...changed };
  const { id, url, format, environments, events, status } = next;
  const lists = [environments, events].map((list) => JSON.stringify(list));
  const parameters: Parameter[] = [id, url, format, ...lists, status, reasonIn(next) ?? null];

  const set = ['url = $2', 'format = $3', 'environments = $4', 'events = $5', 'status = $6', 'reason = $7'];
  if (changed.status === 'active' || url !== webhook.url || changed.cursor !== undefined) {
    set.push('failures = 0', 'failing_since = NULL', 'next_attempt_at = NULL');
    // An attempt that is running now is about what was before: without its lease, it records nothing.
    set.push('leased_by = NULL', 'leased_until = NULL');
  }
  // Otherwise the node that delivers moves the position.
  if (changed.cursor !== undefined) {
    const place = `$${parameters.push(changed.cursor)}`;
    set.push(`position = CASE WHEN position < ${place} THEN ${place} ELSE position END`);
  }

  const [row] = await tx.query<TargetRow>(
    `UPDATE webhooks SET ${set.join(', ')} WHERE id = $1 RETURNING ${WEBHOOK_COLUMNS}`,
    parameters,
  );
  if (row === undefined) throw new Error('the webhook was not stored');
  const stored = withoutSecrets(toTarget(row));

  const before = textOf(webhook);
  const after = textOf(next);
  if (before !== after || url !== webhook.url) {
    const isDisabled = status === 'disabled' && webhook.status !== status;
    note(tx, isDisabled ? 'webhook.disabled' : 'webhook.updated', webhook, { before, after });
  }

  if (changed.cursor !== undefined) {
    const positionOf = ({ name, cursor }: Webhook) => JSON.stringify({ name, deliveredSeq: cursor });
    note(tx, 'webhook.skipped', webhook, { before: positionOf(webhook), after: positionOf(stored) });
  }
  return stored;
}

/** Replaces the secret; the old one signs too until `until`. */
export async function storeSecret(tx: Tx, webhook: Webhook, secret: string, until: number): Promise<void> {
  await tx.query(
    `UPDATE webhooks SET previous_secret = secret, previous_secret_until = $3, secret = $2 WHERE id = $1`,
    [webhook.id, secret, until],
  );
  note(tx, 'webhook.rotated', webhook, {});
}

/** Removes a webhook. The schema removes its deliveries with it, and all of both with their project. */
export async function removeWebhook(tx: Tx, webhook: Webhook): Promise<void> {
  await tx.query('DELETE FROM webhooks WHERE id = $1', [webhook.id]);
  note(tx, 'webhook.deleted', webhook, { before: textOf(webhook) });
}

function note(
  tx: Tx,
  action: string,
  { projectId, name }: Webhook,
  texts: { readonly before?: string; readonly after?: string },
): void {
  tx.journal.audit({ action, target: name, ...texts, ...(projectId === '' ? {} : { projectId }) });
}

/** A webhook for the audit log, which all viewers can read: only the origin of its address, as the rest may be a secret. */
function textOf(webhook: Webhook): string {
  const { name, url, format, environments, events, status } = webhook;
  const { origin } = new URL(url);
  return JSON.stringify({ name, origin, format, environments, events, status, reason: reasonIn(webhook) });
}

/** Only a disabled one has a reason. */
function reasonIn({ status, reason }: Webhook): string | undefined {
  return status === 'disabled' ? reason : undefined;
}
