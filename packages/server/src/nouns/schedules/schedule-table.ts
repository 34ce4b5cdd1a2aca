import { defined } from '@halyard/protocol';
import { isoTime } from '../../domain/iso-time.ts';
import type { Affected } from '../../domain/project.ts';
import { RawJson, writeJson } from '../../domain/raw-json.ts';
import type { Parameter, Queryable } from '../../storage/database.ts';
import { type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';
import { type Schedule, type ScheduleFilter, type Settlement, scheduledKeys } from './schedule.ts';

// The change that a schedule made is found through its audit entry: the number is not known before the commit.
const SELECT = `SELECT id, project_id AS "projectId", environment_id AS "environmentId", changes, note,
    created_by AS "createdBy", proposal, created_at AS "createdAt", due_at AS "dueAt", status, settled_at AS "settledAt",
    outcome, (SELECT max(operation_seq) FROM audit_log
      WHERE audit_log.project_id = scheduled_changes.project_id AND target = scheduled_changes.id
      AND action = 'schedule.applied') AS seq
  FROM scheduled_changes`;

const ACTIONS = {
  done: 'schedule.applied',
  failed: 'schedule.failed',
  cancelled: 'schedule.cancelled',
} as const;

/** Settled schedules of an environment that are kept when another one is created. The audit log has all. */
export const KEPT_SCHEDULES = 200;

// The project is for the index.
const SETTLED = `project_id = $1 AND environment_id = $2 AND status <> 'pending'`;

const PRUNE_SETTLED = `DELETE FROM scheduled_changes WHERE ${SETTLED} AND id NOT IN
  (SELECT id FROM scheduled_changes WHERE ${SETTLED} ORDER BY settled_at DESC, id DESC LIMIT $3)`;

/** Pending schedules first, the next due one at their head; then settled ones, the last settled at their head. */
export async function readSchedules(
  db: Queryable,
  { projectId, environmentId, status, settled }: ScheduleFilter,
): Promise<readonly Schedule[]> {
  const place = 'WHERE project_id = $1 AND ($2 = $3 OR environment_id = $2)';
  const parameters = [projectId, environmentId ?? '', ''];

  const pending =
    status !== undefined && status !== 'pending'
      ? []
      : await select(db, `${place} AND status = 'pending' ORDER BY due_at, id`, parameters);
  if (status === 'pending') return pending;

  const wanted = status === undefined ? `status <> 'pending'` : 'status = $5';
  const past = await select(db, `${place} AND ${wanted} ORDER BY settled_at DESC, id DESC LIMIT $4`, [
    ...parameters,
    settled,
    ...(status === undefined ? [] : [status]),
  ]);
  return [...pending, ...past];
}

/** One schedule, of any project. */
export async function readSchedule(db: Queryable, id: string): Promise<Schedule | undefined> {
  const [schedule] = await select(db, 'WHERE id = $1', [id]);
  return schedule;
}

/** Pending schedules of all projects, the next due one first; `after` skips it and those before it. */
export function readNextSchedules(
  db: Queryable,
  limit: number,
  after?: Pick<Schedule, 'id' | 'dueAt'>,
): Promise<readonly Schedule[]> {
  return select(
    db,
    `WHERE status = 'pending' AND (due_at > $2 OR (due_at = $2 AND id > $3)) ORDER BY due_at, id LIMIT $1`,
    [limit, after?.dueAt ?? -1, after?.id ?? ''],
  );
}

/** The pending schedules of these authors, in all projects, the next due one first. */
export function readSchedulesBy(db: Queryable, authors: readonly string[]): Promise<readonly Schedule[]> {
  const by = placeholders(authors.length);
  return select(db, `WHERE status = 'pending' AND created_by IN (${by}) ORDER BY due_at, id`, authors);
}

async function select(
  db: Queryable,
  condition: string,
  parameters: readonly Parameter[],
): Promise<Schedule[]> {
  const rows = await db.query<NullableColumns<Schedule>>(`${SELECT} ${condition}`, parameters);
  return rows.map(withoutNulls<Schedule>);
}

/** Inserts a schedule, and forgets the oldest settled ones of its environment beyond the limit. */
export async function insertSchedule(tx: Tx, schedule: Schedule): Promise<void> {
  const { id, projectId, environmentId, changes, note, createdBy, createdAt, dueAt, status, proposal } =
    schedule;

  await tx.query(
    `INSERT INTO scheduled_changes
      (id, project_id, environment_id, changes, note, created_by, created_at, due_at, status, proposal)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      ...[id, projectId, environmentId, changes, note ?? null, createdBy, createdAt, dueAt, status],
      proposal ?? null,
    ],
  );
  await tx.query(PRUNE_SETTLED, [projectId, environmentId, KEPT_SCHEDULES]);

  const after = textOf(schedule);
  tx.journal.audit({ action: 'schedule.created', projectId, environmentId, target: id, after });
}

/**
 * Ends a pending schedule. A second caller waits for the first to commit and gets `false`, so a change in the same
 * transaction runs once.
 */
export async function settleSchedule(
  tx: Tx,
  schedule: Schedule,
  { status, at, outcome }: Settlement,
): Promise<boolean> {
  const { id, projectId, environmentId } = schedule;

  const settled = await tx.query(
    `UPDATE scheduled_changes SET status = $2, settled_at = $3, outcome = $4
      WHERE id = $1 AND status = 'pending' RETURNING id`,
    [id, status, at, outcome ?? null],
  );
  if (settled.length === 0) return false;

  tx.journal.audit({
    action: ACTIONS[status],
    projectId,
    environmentId,
    target: id,
    before: textOf(schedule),
    ...(outcome === undefined ? {} : { after: JSON.stringify({ reason: outcome }) }),
  });
  return true;
}

/** Cancels the pending schedules that change one of these flags. */
export async function cancelSchedulesOf(
  tx: Tx,
  { projectId, environmentId, keys }: Affected,
  settlement: Omit<Settlement, 'status'>,
): Promise<void> {
  const pending = await readSchedules(tx, {
    projectId,
    ...defined({ environmentId }),
    status: 'pending',
    settled: 0,
  });

  const affected = keys && new Set(keys);
  for (const schedule of pending) {
    if (affected?.isDisjointFrom(new Set(scheduledKeys(schedule)))) continue;
    await settleSchedule(tx, schedule, { ...settlement, status: 'cancelled' });
  }
}

/** The note is that of the entry. */
function textOf({ dueAt, changes }: Schedule): string {
  return writeJson({ dueAt: isoTime(dueAt), changes: new RawJson(changes) });
}
