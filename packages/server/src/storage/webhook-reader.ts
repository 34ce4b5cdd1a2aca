import { PEOPLE_NOUNS } from '../domain/audit.ts';
import type {
  NextMessage,
  Webhook,
  WebhookDelivery,
  WebhookEvent,
  WebhookEvents,
  WebhookMessage,
  WebhookReader,
  WebhookScope,
  WebhookTarget,
} from '../domain/webhook.ts';
import type { Parameter, Queryable } from './database.ts';
import { type NullableColumns, parseTextList, placeholders, withoutNulls } from './rows.ts';

/** Most events of one message, and most characters of their states; further ones are only counted. */
const MESSAGE = { events: 100, characters: 256 * 1024 } as const;

/** Most audit entries that one statement scans: on SQLite, reads of flags wait for it. */
export const SCANNED = { next: 2_000, olderThan: 5_000 } as const;

/** A webhook with its secrets, as {@link WEBHOOK_COLUMNS} read it. */
export type TargetRow = NullableColumns<
  Omit<WebhookTarget, 'environments' | 'events' | 'project' | 'pendingSince'>
> & {
  readonly project: string;
  readonly pendingSince: number | null;
  readonly environments: string;
  readonly events: string;
};

/** When the first entry after a webhook's position was written. */
export const PENDING_SINCE = `(SELECT audit_log.at FROM audit_log WHERE audit_log.project_id = webhooks.project_id
    AND audit_log.seq > webhooks.position ORDER BY audit_log.seq LIMIT 1)`;

/** The columns of a {@link TargetRow}. */
export const WEBHOOK_COLUMNS = `id, project_id AS "projectId", name, url, format, environments, events, status, reason,
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

/** A webhook that may leave the storage: without its secrets. */
export function withoutSecrets({
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

  async deliveries(id: string): Promise<readonly WebhookDelivery[]> {
    const rows = await this.#queryable.query<NullableColumns<WebhookDelivery>>(
      `SELECT number, seq, message_id AS "messageId", cause AS "trigger", outcome, at,
          duration_ms AS "durationMs", status, error, answer
        FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY number DESC`,
      [id],
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
  const rows = await queryable.query<TargetRow>(
    `SELECT ${WEBHOOK_COLUMNS} FROM webhooks ${condition}`,
    parameters,
  );
  return rows.map(toTarget);
}

/** The entries of the audit log that a webhook delivers. What belongs to the whole project goes to all of its webhooks. */
export function scopeOf({ projectId, environments, events }: WebhookScope) {
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
export function waitingEntries(cursor: number, limit: number, parameters: Parameter[]): string {
  return `SELECT seq, operation_seq, project_id, environment_id, action, at FROM audit_log
    WHERE project_id = $1 AND seq > $${parameters.push(cursor)} ORDER BY seq LIMIT ${limit}`;
}
