import { defined } from '@halyard/protocol';
import { PEOPLE_NOUNS } from '../domain/audit.ts';
import { ServiceError } from '../domain/errors.ts';
import {
  KEPT_DELIVERIES,
  type Lease,
  type NewWebhook,
  type NextMessage,
  type PendingWebhook,
  type Settlement,
  type Webhook,
  type WebhookDelivery,
  type WebhookEvent,
  type WebhookEvents,
  type WebhookMessage,
  type WebhookReader,
  type WebhookScope,
  type WebhookStore,
  type WebhookTarget,
  type WebhookTransaction,
  type WebhookUpdate,
} from '../domain/webhook.ts';
import type { Database, Parameter, Queryable, WriteTransaction } from './database.ts';
import type { Journal } from './journal.ts';
import { type NullableColumns, parseTextList, placeholders, withoutNulls } from './rows.ts';

/** Events of one message at most, and the characters of their states; more are counted only. */
const MESSAGE = { events: 100, characters: 256 * 1024 } as const;

/** Entries of the audit log that one statement looks through, as reads of flags wait for it on SQLite. */
const SCANNED = { next: 2_000, olderThan: 5_000 } as const;

/** Webhooks that one look for work takes at most. */
const PENDING = 500;

type TargetRow = NullableColumns<
  Omit<WebhookTarget, 'environments' | 'events' | 'project' | 'pendingSince'>
> & {
  readonly project: string;
  readonly pendingSince: number | null;
  readonly environments: string;
  readonly events: string;
};

const PENDING_SINCE = `(SELECT audit_log.at FROM audit_log WHERE audit_log.project_id = webhooks.project_id
    AND audit_log.seq > webhooks.position ORDER BY audit_log.seq LIMIT 1)`;

const COLUMNS = `id, project_id AS "projectId", name, url, format, environments, events, status, reason,
  position AS cursor, deliveries, given_up AS "givenUp", failures, failing_since AS "failingSince",
  next_attempt_at AS "nextAttemptAt", previous_secret_until AS "previousSecretUntil", created_at AS "createdAt",
  secret, previous_secret AS "previousSecret", ${PENDING_SINCE} AS "pendingSince",
  (SELECT projects.name FROM projects WHERE projects.id = webhooks.project_id) AS project`;

function toTarget({ environments, events, ...row }: TargetRow): WebhookTarget {
  return {
    ...withoutNulls<Omit<WebhookTarget, 'environments' | 'events'>>(row),
    environments: parseTextList(environments),
    // `WebhookEvents`: only they are stored; another text matches no action.
    events: parseTextList(events) as readonly WebhookEvents[],
  };
}

function withoutSecrets({
  secret: _,
  previousSecret: _previous,
  project: _project,
  ...webhook
}: WebhookTarget) {
  return webhook satisfies Webhook;
}

/** Reads of webhooks over one transaction or snapshot. */
export class SqlWebhookReader implements WebhookReader {
  readonly #queryable: Queryable;

  /** Reads through `queryable`, which decides what is seen. */
  constructor(queryable: Queryable) {
    this.#queryable = queryable;
  }

  async list(projectId: string): Promise<readonly Webhook[]> {
    const found = await readTargets(this.#queryable, 'WHERE project_id = $1', [projectId]);
    return found.map(withoutSecrets).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async find(projectId: string, name: string): Promise<Webhook | undefined> {
    const text = 'WHERE project_id = $1 AND name = $2';
    const [found] = await readTargets(this.#queryable, text, [projectId, name]);
    return found && withoutSecrets(found);
  }

  async target(id: string): Promise<WebhookTarget | undefined> {
    const [found] = await readTargets(this.#queryable, 'WHERE id = $1', [id]);
    return found;
  }

  async next(webhook: WebhookScope & Pick<Webhook, 'cursor'>): Promise<NextMessage> {
    const { condition, parameters } = scopeOf(webhook);
    const waiting = waitingEntries(webhook.cursor, SCANNED.next, parameters);
    const [found] = await this.#queryable.query<{ seq: number }>(
      `SELECT COALESCE(operation_seq, seq) AS seq FROM (${waiting}) AS audit_log
        WHERE ${condition} ORDER BY audit_log.seq LIMIT 1`,
      parameters,
    );
    const message = found && (await this.message(webhook, found.seq));
    if (message !== undefined) return { message };
    const place: Parameter[] = [webhook.projectId];
    const [seen] = await this.#queryable.query<{ end: number | null; entries: number }>(
      `SELECT max(seq) AS "end", count(*) AS entries
        FROM (${waitingEntries(webhook.cursor, SCANNED.next, place)}) AS waiting`,
      place,
    );
    return { end: seen?.end ?? webhook.cursor, isLast: (seen?.entries ?? 0) < SCANNED.next };
  }

  async message(webhook: WebhookScope, seq: number): Promise<WebhookMessage | undefined> {
    const { condition, parameters } = scopeOf(webhook);
    const at = `$${parameters.push(seq)}`;
    const limit = `$${parameters.push(MESSAGE.characters)}`;
    // One index finds the rows of the operation by their seq; entries before the column existed are operations alone.
    const operation = `COALESCE(operation_seq, seq) = ${at} AND seq <= ${at}
      AND seq >= COALESCE((SELECT min(seq) FROM audit_log WHERE operation_seq = ${at}), ${at})`;
    const firstOf = (rows: string) => `(SELECT id FROM audit_log WHERE ${rows} ORDER BY position LIMIT 1)`;
    const rows = await this.#queryable.query<EventRow>(
      `SELECT actor, note, at, action, target, environment, total, bytes <= ${limit} AS fits,
          COALESCE(${firstOf(`operation_seq = ${at}`)}, ${firstOf(`seq = ${at}`)}) AS "firstId",
          CASE WHEN bytes <= ${limit} THEN before END AS before,
          CASE WHEN bytes <= ${limit} THEN after END AS after
        FROM (SELECT audit_log.*, count(*) OVER () AS total,
            (SELECT name FROM environments WHERE environments.id = audit_log.environment_id) AS environment,
            sum(length(COALESCE(before, '')) + length(COALESCE(after, ''))) OVER (ORDER BY position) AS bytes
          FROM audit_log WHERE ${condition} AND ${operation}) AS entries
        ORDER BY position LIMIT ${MESSAGE.events}`,
      parameters,
    );
    const [first] = rows;
    if (first === undefined) return undefined;
    return {
      seq,
      messageId: `chg_${seq}_${first.firstId.slice(-12)}`,
      ...{ at: first.at, actor: first.actor },
      ...(first.note === null ? {} : { note: first.note }),
      events: rows.map(toEvent),
      omitted: first.total - rows.length,
    };
  }

  async deliveries(
    id: string,
    { limit, before }: { readonly limit: number; readonly before?: number },
  ): Promise<readonly WebhookDelivery[]> {
    const rows = await this.#queryable.query<NullableColumns<WebhookDelivery>>(
      `SELECT number, seq, message_id AS "messageId", cause AS "trigger", outcome, at,
          duration_ms AS "durationMs", status, error, answer
        FROM webhook_deliveries WHERE webhook_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3`,
      [id, before ?? Number.MAX_SAFE_INTEGER, limit],
    );
    return rows.map(withoutNulls<WebhookDelivery>);
  }
}

type EventRow = NullableColumns<Omit<WebhookEvent, 'isCut'>> & {
  readonly firstId: string;
  readonly actor: string;
  readonly note: string | null;
  readonly at: number;
  readonly total: number;
  /** A number on SQLite, which has no booleans. */
  readonly fits: boolean | number;
};

function toEvent({ action, target, environment, before, after, fits }: EventRow): WebhookEvent {
  return {
    ...withoutNulls<Omit<WebhookEvent, 'isCut'>>({ action, target, environment, before, after }),
    isCut: !fits,
  };
}

async function readTargets(
  queryable: Queryable,
  condition: string,
  parameters: readonly Parameter[],
): Promise<WebhookTarget[]> {
  const rows = await queryable.query<TargetRow>(`SELECT ${COLUMNS} FROM webhooks ${condition}`, parameters);
  return rows.map(toTarget);
}

/** The entries of the audit log that a webhook delivers. What belongs to the whole project goes to all of its webhooks. */
function scopeOf({ projectId, environments, events }: WebhookScope) {
  const parameters: Parameter[] = [projectId];
  const add = (value: Parameter) => `$${parameters.push(value)}`;
  const nouns = (list: readonly string[], not = '') =>
    list.map((noun) => `action ${not} LIKE ${add(`${noun}.%`)}`);
  const conditions = ['audit_log.project_id = $1', ...nouns(PEOPLE_NOUNS, 'NOT')];
  if (environments.length > 0) {
    const names = placeholders(environments.length, parameters.length);
    parameters.push(...environments);
    conditions.push(`(audit_log.environment_id IS NULL OR audit_log.environment_id IN
      (SELECT id FROM environments WHERE project_id = $1 AND name IN (${names})))`);
  }
  if (events.length > 0) conditions.push(`(${nouns(events).join(' OR ')})`);
  return { condition: conditions.join(' AND '), parameters };
}

/** The first entries of the project after a position. Adds to the parameters, the first of which is the project's id. */
function waitingEntries(cursor: number, limit: number, parameters: Parameter[]): string {
  return `SELECT seq, operation_seq, project_id, environment_id, action, at FROM audit_log
    WHERE project_id = $1 AND seq > $${parameters.push(cursor)} ORDER BY seq LIMIT ${limit}`;
}

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
    if (changed.status === 'active')
      also.push('failures = 0', 'failing_since = NULL', 'next_attempt_at = NULL');
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
    // First the lock that a node which delivers takes first.
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

/** A webhook for the audit log, which everybody can read: of its address only the origin, as the rest may be a secret. */
function textOf({ name, url, format, environments, events, status, reason }: Webhook): string {
  return JSON.stringify({
    ...{ name, origin: new URL(url).origin, format, environments, events, status },
    ...defined({ reason: status === 'disabled' ? reason : undefined }),
  });
}

/** Deliveries of webhooks outside the log, on either engine. */
export class SqlWebhookStore implements WebhookStore {
  readonly #database: Database;

  /** Writes to `database`, whose schema must be current. */
  constructor(database: Database) {
    this.#database = database;
  }

  async pending(node: string, projects?: readonly string[]): Promise<readonly PendingWebhook[]> {
    const chosen = projects === undefined ? '' : `AND project_id IN (${placeholders(projects.length, 1)})`;
    const rows = await this.#database.query<NullableColumns<PendingWebhook>>(
      `SELECT * FROM (SELECT id, next_attempt_at AS "nextAttemptAt", ${PENDING_SINCE} AS "pendingSince",
          CASE WHEN leased_by = $1 THEN NULL ELSE leased_until END AS "leasedUntil"
        FROM webhooks WHERE status = 'active' ${chosen}) AS active
        WHERE "pendingSince" IS NOT NULL ORDER BY COALESCE("nextAttemptAt", 0), "pendingSince" LIMIT ${PENDING}`,
      [node, ...(projects ?? [])],
    );
    return rows.map(withoutNulls<PendingWebhook>);
  }

  async lease({ id, node, now, until }: Lease): Promise<WebhookTarget | undefined> {
    const rows = await this.#database.transaction((transaction) =>
      transaction.query<TargetRow>(
        `UPDATE webhooks SET leased_by = $2, leased_until = $4 WHERE id = $1 AND status = 'active'
          AND (leased_by = $2 OR leased_until IS NULL OR leased_until <= $3)
          AND (next_attempt_at IS NULL OR next_attempt_at <= $3) RETURNING ${COLUMNS}`,
        [id, node, now, until],
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
          WHERE id = $1 AND leased_by = $2 AND position = $3 RETURNING ${COLUMNS}`,
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

/** Adds the attempts that end with number `deliveries`, and removes those that are too many. */
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
