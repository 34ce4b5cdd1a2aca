import { isoTime } from '../../domain/iso-time.ts';
import type { Affected } from '../../domain/project.ts';
import { RawJson, writeJson } from '../../domain/raw-json.ts';
import type { Parameter, Queryable, Statement } from '../../storage/database.ts';
import type { Journal } from '../../storage/journal.ts';
import { ENVIRONMENT_BY_NAME, type EnvironmentNames } from '../../storage/places.ts';
import { chunks, type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';
import {
  isOpen,
  type RolloutAction,
  type RolloutFilter,
  type RolloutPlan,
  type RolloutProgress,
} from './rollout-plan.ts';

/** A plan as its row has it: the engines have no fractions in common. */
export type RolloutRow = NullableColumns<Omit<RolloutPlan, 'fromPct'>> & { readonly fromPct: string };

const SELECT = `SELECT id, project_id AS "projectId", environment_id AS "environmentId",
    flag_key AS "flagKey", steps, note, created_by AS "createdBy", created_at AS "createdAt", from_pct AS "fromPct",
    runs_as AS "runsAs", runs_since AS "runsSince", proposal, status, status_at AS "statusAt", status_by AS "statusBy", reason,
    next_step AS "nextStep", due_at AS "dueAt", ran, state_revision AS "stateRevision"
  FROM rollout_plans`;

/** The record of a row that {@link selectOpenPlans} reads. */
export function toPlan(row: RolloutRow): RolloutPlan {
  return { ...withoutNulls<Omit<RolloutPlan, 'fromPct'>>(row), fromPct: Number(row.fromPct) };
}

/** Most flags in one statement. */
const FLAGS_PER_STATEMENT = 500;

/** Ended plans of a flag in an environment that are kept when another one starts. The audit log has all. */
export const KEPT_PLANS = 20;

const ENDED = 'environment_id = $1 AND flag_key = $2 AND open_flag IS NULL';

const PRUNE_ENDED = `DELETE FROM rollout_plans WHERE ${ENDED} AND id NOT IN
  (SELECT id FROM rollout_plans WHERE ${ENDED} ORDER BY status_at DESC, id DESC LIMIT $3)`;

/** Open plans first, the next due one at their head, then ended ones, the last ended at their head. */
export async function readPlans(
  db: Queryable,
  { projectId, environmentId, flagKey, status, ended }: RolloutFilter,
): Promise<readonly RolloutPlan[]> {
  const place = 'WHERE project_id = $1 AND ($2 = $4 OR environment_id = $2) AND ($3 = $4 OR flag_key = $3)';
  const parameters = [projectId, environmentId ?? '', flagKey ?? '', ''];
  const isWanted = (plan: RolloutPlan) => status === undefined || status === 'open' || plan.status === status;

  const open = await select(db, `${place} AND open_flag IS NOT NULL`, parameters);
  const sorted = open.filter(isWanted).sort(byDue);
  if (status === 'open' || (status !== undefined && isOpen({ status }))) return sorted;

  const past = await select(
    db,
    `${place} AND open_flag IS NULL AND ($5 = $4 OR status = $5) ORDER BY status_at DESC, id DESC LIMIT $6`,
    [...parameters, status ?? '', ended],
  );
  return [...sorted.filter(() => status === undefined), ...past];
}

/** Running plans by due time, then paused ones by the time of their pause. */
function byDue(one: RolloutPlan, other: RolloutPlan): number {
  const order = (plan: RolloutPlan) => plan.dueAt ?? Number.MAX_SAFE_INTEGER;
  return order(one) - order(other) || one.statusAt - other.statusAt || (one.id < other.id ? -1 : 1);
}

/** One plan, of any project. */
export async function readPlan(db: Queryable, id: string): Promise<RolloutPlan | undefined> {
  const [plan] = await select(db, 'WHERE id = $1', [id]);
  return plan;
}

/** Running plans of all projects, the next due one first; `after` skips it and those before it. */
export function readNextPlans(
  db: Queryable,
  limit: number,
  after?: Pick<RolloutPlan, 'id' | 'dueAt'>,
): Promise<readonly RolloutPlan[]> {
  return select(
    db,
    `WHERE status = 'running' AND (due_at > $2 OR (due_at = $2 AND id > $3)) ORDER BY due_at, id LIMIT $1`,
    [limit, after?.dueAt ?? -1, after?.id ?? ''],
  );
}

/** The open plans of these flags, in no order. */
export async function readOpenPlans(
  db: Queryable,
  { projectId, environmentId, keys }: Affected,
): Promise<readonly RolloutPlan[]> {
  const place =
    environmentId === undefined
      ? 'WHERE project_id = $1 AND open_flag'
      : 'WHERE environment_id = $1 AND open_flag';
  const id = environmentId ?? projectId;
  if (keys === undefined) return select(db, `${place} IS NOT NULL`, [id]);

  const plans: RolloutPlan[] = [];
  for (const some of chunks(keys, FLAGS_PER_STATEMENT)) {
    plans.push(...(await select(db, `${place} IN (${placeholders(some.length, 1)})`, [id, ...some])));
  }
  return plans;
}

/** The open plans that run with the rights of these people and tokens, in all projects, in the order of their flags. */
export function readPlansOf(db: Queryable, authors: readonly string[]): Promise<readonly RolloutPlan[]> {
  const by = placeholders(authors.length);
  return select(db, `WHERE open_flag IS NOT NULL AND runs_as IN (${by}) ORDER BY open_flag, id`, authors);
}

/** Reads the open plans of these flags in an environment, as {@link RolloutRow}. */
export function selectOpenPlans(
  { project, environment }: EnvironmentNames,
  keys: readonly string[],
): Statement {
  return {
    text: `${SELECT} WHERE environment_id = ${ENVIRONMENT_BY_NAME} AND open_flag IN (${placeholders(keys.length, 2)})`,
    parameters: [project, environment, ...keys],
  };
}

async function select(
  db: Queryable,
  condition: string,
  parameters: readonly Parameter[],
): Promise<RolloutPlan[]> {
  return (await db.query<RolloutRow>(`${SELECT} ${condition}`, parameters)).map(toPlan);
}

/** Inserts a plan, and forgets the oldest ended ones of its flag there beyond the limit. */
export async function insertPlan(tx: Tx, plan: RolloutPlan): Promise<void> {
  const { id, projectId, environmentId, flagKey, note, createdBy, createdAt, fromPct } = plan;

  await tx.query(
    `INSERT INTO rollout_plans (id, project_id, environment_id, flag_key, open_flag, steps, note, created_by,
      created_at, from_pct, runs_as, runs_since, status, status_at, status_by, next_step, due_at, ran, state_revision, proposal)
      VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
    [
      id,
      projectId,
      environmentId,
      flagKey,
      plan.steps,
      note ?? null,
      createdBy,
      createdAt,
      String(fromPct),
      plan.runsAs,
      plan.runsSince,
      plan.status,
      plan.statusAt,
      plan.statusBy,
      plan.nextStep,
      plan.dueAt ?? null,
      plan.ran,
      plan.stateRevision ?? null,
      plan.proposal ?? null,
    ],
  );
  await tx.query(PRUNE_ENDED, [environmentId, flagKey, KEPT_PLANS]);

  const after = writeJson({ id, from: fromPct, steps: new RawJson(plan.steps) });
  const action = 'rollout.started';
  // Its own row, before that of the first step: from the step alone no screen would learn of a new plan.
  tx.journal.change({ kind: 'records.changed', projectId, payload: { actions: [action] } }, [
    { action, projectId, environmentId, target: flagKey, after },
  ]);
}

/** What is said of a transition in the audit log. */
interface Transition {
  readonly action: RolloutAction;
  readonly details?: object;
}

/**
 * Moves a plan from what `plan` says to `next`, and returns it. `undefined` when another writer moved it first; a second caller
 * waits for the first to commit, so each step runs once.
 */
export async function storePlan(
  tx: Tx,
  plan: RolloutPlan,
  next: Partial<RolloutProgress>,
  transition: Transition,
): Promise<RolloutPlan | undefined> {
  const { text, parameters } = moving(plan, next);
  if ((await tx.query(text, parameters)).length === 0) return undefined;
  note(tx.journal, plan, next, transition);
  return moved(plan, next);
}

/** As {@link storePlan}, under the lock of the environment, which all who move a plan hold. The statement writes it. */
export function storingPlan(
  journal: Journal,
  plan: RolloutPlan,
  next: Partial<RolloutProgress>,
  transition: Transition,
): Statement {
  note(journal, plan, next, transition);
  return moving(plan, next);
}

/** Stops the open plans of these flags. */
export async function stopPlansOf(
  tx: Tx,
  affected: Affected,
  { at, reason }: { readonly at: number; readonly reason: string },
): Promise<void> {
  for (const plan of await readOpenPlans(tx, affected)) {
    const next = { status: 'stopped', statusAt: at, statusBy: tx.journal.actor, reason } as const;
    await storePlan(tx, plan, next, { action: 'rollout.stopped' });
  }
}

/** A plan after a transition: a reason and a due time are those of its new status. */
function moved(
  { reason: _reason, dueAt: _dueAt, ...kept }: RolloutPlan,
  next: Partial<RolloutProgress>,
): RolloutPlan {
  return { ...kept, ...next };
}

function moving(plan: RolloutPlan, next: Partial<RolloutProgress>): Required<Statement> {
  const after = moved(plan, next);
  return {
    text: `UPDATE rollout_plans SET open_flag = $4, runs_as = $5, runs_since = $6, status = $7, status_at = $8,
        status_by = $9, reason = $10, next_step = $11, due_at = $12, ran = $13, state_revision = $14, proposal = $19
      WHERE id = $1 AND status = $2 AND next_step = $3
        AND status_at = $15 AND status_by = $16 AND runs_as = $17 AND runs_since = $18
      RETURNING id`,
    parameters: [
      plan.id,
      plan.status,
      plan.nextStep,
      isOpen(after) ? plan.flagKey : null,
      after.runsAs,
      after.runsSince,
      after.status,
      after.statusAt,
      after.statusBy,
      after.reason ?? null,
      after.nextStep,
      after.dueAt ?? null,
      after.ran,
      after.stateRevision ?? null,
      // A plan that was paused and resumed has the same status and step again.
      plan.statusAt,
      plan.statusBy,
      plan.runsAs,
      plan.runsSince,
      after.proposal ?? null,
    ],
  };
}

function note(
  journal: Journal,
  { id, projectId, environmentId, flagKey: target }: RolloutPlan,
  { reason, dueAt }: Partial<RolloutProgress>,
  { action, details }: Transition,
): void {
  const nextAt = dueAt === undefined ? undefined : isoTime(dueAt);
  const after = JSON.stringify({ id, reason, nextAt, ...details });
  journal.audit({ action, projectId, environmentId, target, after });
}
