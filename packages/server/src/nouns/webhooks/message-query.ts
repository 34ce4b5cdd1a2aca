import type { Parameter, Queryable } from '../../storage/database.ts';
import { beforeLastRow, NOT_ABOUT_PEOPLE } from '../../storage/places.ts';
import { type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';
import {
  COUNTED_ENTRIES,
  type NextMessage,
  type Webhook,
  type WebhookEvent,
  type WebhookMessage,
  type WebhookScope,
} from './webhook.ts';

/** Most events of one message, and most characters of their states; further ones are only counted. */
const MESSAGE = { events: 100, characters: 256 * 1024 } as const;

/** Most audit entries that one statement scans: on SQLite, reads of flags wait for it. */
const SCANNED = { next: 2_000, older: 5_000 } as const;

/** The first change after the webhook's position that it delivers. */
export async function readNextMessage(
  db: Queryable,
  webhook: WebhookScope & Pick<Webhook, 'cursor'>,
): Promise<NextMessage> {
  const next = await readNextSeq(db, webhook);
  const message = next === undefined ? undefined : await readMessage(db, webhook, next);
  if (message !== undefined) return { message };

  const place: Parameter[] = [webhook.projectId];
  const [seen] = await db.query<{ end: number | null; entries: number }>(
    `SELECT max(seq) AS "end", count(*) AS entries
      FROM (${waitingEntries(webhook.cursor, SCANNED.next, place)}) AS waiting`,
    place,
  );
  return { end: seen?.end ?? webhook.cursor, isLast: (seen?.entries ?? 0) < SCANNED.next };
}

/** The number of the change that a webhook delivers next; `undefined` if the entries that one statement scans have none. */
export async function readNextSeq(
  db: Queryable,
  webhook: WebhookScope & Pick<Webhook, 'cursor'>,
): Promise<number | undefined> {
  const { condition, parameters } = scopeOf(webhook);
  const waiting = waitingEntries(webhook.cursor, SCANNED.next, parameters);
  const [found] = await db.query<{ seq: number }>(
    `SELECT COALESCE(operation_seq, seq) AS seq FROM (${waiting}) AS audit_log
      WHERE ${condition} ORDER BY audit_log.seq LIMIT 1`,
    parameters,
  );
  return found?.seq;
}

/** How many changes wait for a webhook and since when, among the next {@link COUNTED_ENTRIES} entries. */
export async function readWaiting(
  db: Queryable,
  webhook: WebhookScope & Pick<Webhook, 'cursor'>,
): Promise<{ readonly count: number; readonly since: number | null; readonly isAll: boolean }> {
  const { condition, parameters } = scopeOf(webhook);
  const waiting = waitingEntries(webhook.cursor, COUNTED_ENTRIES, parameters);
  const [found] = await db.query<{ count: number; since: number | null; entries: number }>(
    `WITH waiting AS (${waiting})
      SELECT count(DISTINCT COALESCE(operation_seq, seq)) AS count, min(at) AS since,
          (SELECT count(*) FROM waiting) AS entries
        FROM waiting AS audit_log WHERE ${condition}`,
    parameters,
  );
  const { count = 0, since = null, entries = 0 } = found ?? {};
  return { count, since, isAll: entries < COUNTED_ENTRIES };
}

/** The message of change `seq`; `undefined` when it has nothing for this webhook. */
export async function readMessage(
  db: Queryable,
  webhook: WebhookScope,
  seq: number,
): Promise<WebhookMessage | undefined> {
  const { condition, parameters } = scopeOf(webhook);
  const at = `$${parameters.push(seq)}`;
  const limit = `$${parameters.push(MESSAGE.characters)}`;
  // One index finds the rows of the operation by their seq; entries before the column existed are operations alone.
  const operation = `COALESCE(operation_seq, seq) = ${at} AND seq <= ${at}
    AND seq >= COALESCE((SELECT min(seq) FROM audit_log WHERE ${beforeLastRow(at)}), ${at})`;
  const firstOf = (rows: string) => `(SELECT id FROM audit_log WHERE ${rows} ORDER BY position LIMIT 1)`;

  const rows = await db.query<EventRow>(
    `SELECT id, actor, ip, note, at, action, target, project, environment, total, bytes <= ${limit} AS fits,
        COALESCE(${firstOf(beforeLastRow(at))}, ${firstOf(`seq = ${at}`)}) AS "firstId",
        CASE WHEN bytes <= ${limit} THEN before END AS before,
        CASE WHEN bytes <= ${limit} THEN after END AS after
      FROM (SELECT audit_log.*, count(*) OVER () AS total,
          (SELECT name FROM projects WHERE projects.id = audit_log.project_id) AS project,
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
    at: first.at,
    actor: first.actor,
    ...(first.ip === null ? {} : { ip: first.ip }),
    ...(first.note === null ? {} : { note: first.note }),
    events: rows.map(toEvent),
    omitted: first.total - rows.length,
  };
}

/** How many changes the webhook delivers up to the last one before `before`, and the position after them. */
export async function readOlder(
  db: Queryable,
  webhook: Webhook,
  before: number,
): Promise<{ readonly count: number; readonly cursor: number }> {
  const { condition, parameters } = scopeOf(webhook);
  const waiting = waitingEntries(webhook.cursor, SCANNED.older, parameters);
  const young = `SELECT min(seq) FROM waiting WHERE at > $${parameters.push(before)}`;

  // The first change that is not older ends them, so that the clocks of several writers skip nothing.
  const [found] = await db.query<{ count: number; last: number | null }>(
    `WITH waiting AS (${waiting})
      SELECT count(DISTINCT COALESCE(operation_seq, seq)) AS count, max(COALESCE(operation_seq, seq)) AS last
        FROM waiting AS audit_log
        WHERE ${condition} AND seq < COALESCE((${young}), ${Number.MAX_SAFE_INTEGER})`,
    parameters,
  );
  return { count: found?.count ?? 0, cursor: found?.last ?? webhook.cursor };
}

/** The end of the log: with it as the position, nothing older is delivered. */
export async function readEndOfLog(db: Queryable): Promise<number> {
  const [end] = await db.query<{ seq: number }>('SELECT seq FROM feed WHERE id = 1');
  return end?.seq ?? 0;
}

type EventRow = NullableColumns<Omit<WebhookEvent, 'isCut'>> & {
  readonly firstId: string;
  readonly actor: string;
  readonly ip: string | null;
  readonly note: string | null;
  readonly at: number;
  readonly total: number;
  /** A number on SQLite, which has no booleans. */
  readonly fits: boolean | number;
};

function toEvent({ id, action, target, project, environment, before, after, fits }: EventRow): WebhookEvent {
  return {
    ...withoutNulls<Omit<WebhookEvent, 'isCut'>>({ id, action, target, project, environment, before, after }),
    isCut: !fits,
  };
}

/** The entries of the audit log that a webhook delivers. What belongs to the whole project goes to all of its webhooks. */
function scopeOf({ projectId, environments, events }: WebhookScope) {
  const parameters: Parameter[] = [projectId];
  const add = (value: Parameter) => `$${parameters.push(value)}`;

  // A webhook of the installation gets everything.
  if (projectId === '') return { condition: `$1 = ''`, parameters };
  const conditions = ['audit_log.project_id = $1', NOT_ABOUT_PEOPLE];
  if (environments.length > 0) {
    const names = placeholders(environments.length, parameters.length);
    parameters.push(...environments);
    conditions.push(`(audit_log.environment_id IS NULL OR audit_log.environment_id IN
      (SELECT id FROM environments WHERE project_id = $1 AND name IN (${names})))`);
  }
  if (events.length > 0)
    conditions.push(`(${events.map((noun) => `action LIKE ${add(`${noun}.%`)}`).join(' OR ')})`);

  return { condition: conditions.join(' AND '), parameters };
}

/** The first entries in its place after a position. Adds to the parameters, the first of which is the project's id. */
function waitingEntries(cursor: number, limit: number, parameters: Parameter[]): string {
  const place = parameters[0] === '' ? `$1 = ''` : 'project_id = $1';
  return `SELECT seq, operation_seq, project_id, environment_id, action, at FROM audit_log
    WHERE ${place} AND seq > $${parameters.push(cursor)} ORDER BY seq LIMIT ${limit}`;
}
