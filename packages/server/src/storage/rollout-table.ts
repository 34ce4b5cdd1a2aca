import { defined } from '@halyard/protocol';
import { isoTime } from '../domain/iso-time.ts';
import type { Affected } from '../domain/project.ts';
import { RawJson, writeJson } from '../domain/raw-json.ts';
import {
  isOpen,
  type RolloutAction,
  type RolloutFilter,
  type RolloutInterruption,
  type RolloutPlan,
  type RolloutProgress,
  type RolloutReader,
  type RolloutTransaction,
} from '../domain/rollout-plan.ts';
import type { Parameter, Queryable, Statement, WriteTransaction } from './database.ts';
import type { Journal, NewAuditEntry } from './journal.ts';
import { chunks, type NullableColumns, placeholders, withoutNulls } from './rows.ts';

/** A plan as its row has it: the engines have no fractions in common. */
export type RolloutRow = NullableColumns<Omit<RolloutPlan, 'fromPct'>> & { readonly fromPct: string };

/** Reads rows of plans; a condition follows. */
export const SELECT_PLANS = `SELECT id, project_id AS "projectId", environment_id AS "environmentId",
    flag_key AS "flagKey", steps, note, created_by AS "createdBy", created_at AS "createdAt", from_pct AS "fromPct",
    runs_as AS "runsAs", runs_since AS "runsSince", status, status_at AS "statusAt", status_by AS "statusBy", reason,
    next_step AS "nextStep", due_at AS "dueAt", ran, state_revision AS "stateRevision"
  FROM rollout_plans`;

/** The record of a row that {@link SELECT_PLANS} read. */
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

/** Reads of rollout plans over one transaction or snapshot. */
export class SqlRolloutReader implements RolloutReader {
  readonly #queryable: Queryable;

  /** Reads through `queryable`, which decides what is seen. */
  constructor(queryable: Queryable) {
    this.#queryable = queryable;
  }

  async list({ projectId, environmentId, flagKey, status, ended }: RolloutFilter): Promise<RolloutPlan[]> {
    const place = 'WHERE project_id = $1 AND ($2 = $4 OR environment_id = $2) AND ($3 = $4 OR flag_key = $3)';
    const parameters = [projectId, environmentId ?? '', flagKey ?? '', ''];
    const isWanted = (plan: RolloutPlan) =>
      status === undefined || status === 'open' || plan.status === status;
    const open = await this.#read(`${place} AND open_flag IS NOT NULL`, parameters);
    const sorted = open.filter(isWanted).sort(byDue);
    if (status === 'open' || (status !== undefined && isOpen({ status }))) return sorted;
    const past = await this.#read(
      `${place} AND open_flag IS NULL AND ($5 = $4 OR status = $5) ORDER BY status_at DESC, id DESC LIMIT $6`,
      [...parameters, status ?? '', ended],
    );
    return [...sorted.filter(() => status === undefined), ...past];
  }

  async find(id: string): Promise<RolloutPlan | undefined> {
    const [plan] = await this.#read('WHERE id = $1', [id]);
    return plan;
  }

  async openOf(environmentId: string, flagKey: string): Promise<RolloutPlan | undefined> {
    const [plan] = await this.#read('WHERE environment_id = $1 AND open_flag = $2', [environmentId, flagKey]);
    return plan;
  }

  next(limit: number, after?: Pick<RolloutPlan, 'id' | 'dueAt'>): Promise<RolloutPlan[]> {
    return this.#read(
      `WHERE status = 'running' AND (due_at > $2 OR (due_at = $2 AND id > $3)) ORDER BY due_at, id LIMIT $1`,
      [limit, after?.dueAt ?? -1, after?.id ?? ''],
    );
  }

  /** The open plans of these flags, in no order. */
  protected async openIn({ projectId, environmentId, keys }: Affected): Promise<RolloutPlan[]> {
    const place =
      environmentId === undefined
        ? 'WHERE project_id = $1 AND open_flag'
        : 'WHERE environment_id = $1 AND open_flag';
    const id = environmentId ?? projectId;
    if (keys === undefined) return this.#read(`${place} IS NOT NULL`, [id]);
    const plans: RolloutPlan[] = [];
    for (const some of chunks(keys, FLAGS_PER_STATEMENT)) {
      plans.push(...(await this.#read(`${place} IN (${placeholders(some.length, 1)})`, [id, ...some])));
    }
    return plans;
  }

  async #read(condition: string, parameters: readonly Parameter[]): Promise<RolloutPlan[]> {
    return (await this.#queryable.query<RolloutRow>(`${SELECT_PLANS} ${condition}`, parameters)).map(toPlan);
  }
}

/** Running plans by due time, then paused ones by the time of their pause. */
function byDue(one: RolloutPlan, other: RolloutPlan): number {
  const order = (plan: RolloutPlan) => plan.dueAt ?? Number.MAX_SAFE_INTEGER;
  return order(one) - order(other) || one.statusAt - other.statusAt || (one.id < other.id ? -1 : 1);
}

/** Writes of rollout plans in one write transaction. Each is recorded in the journal. */
export class SqlRolloutWriter extends SqlRolloutReader implements RolloutTransaction {
  readonly #sql: WriteTransaction;
  readonly #journal: Journal;

  /** Writes through `sql` and records it in `journal`. */
  constructor(sql: WriteTransaction, journal: Journal) {
    super(sql);
    this.#sql = sql;
    this.#journal = journal;
  }

  async insert(plan: RolloutPlan): Promise<void> {
    const { id, projectId, environmentId, flagKey, note, createdBy, createdAt, fromPct } = plan;
    await this.#sql.query(
      `INSERT INTO rollout_plans (id, project_id, environment_id, flag_key, open_flag, steps, note, created_by,
        created_at, from_pct, runs_as, runs_since, status, status_at, status_by, next_step, due_at, ran, state_revision)
        VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
      [
        ...[id, projectId, environmentId, flagKey, plan.steps, note ?? null, createdBy, createdAt],
        ...[String(fromPct), plan.runsAs, plan.runsSince, plan.status, plan.statusAt, plan.statusBy],
        ...[plan.nextStep, plan.dueAt ?? null, plan.ran, plan.stateRevision ?? null],
      ],
    );
    await this.#sql.query(PRUNE_ENDED, [environmentId, flagKey, KEPT_PLANS]);
    const after = writeJson({ id, from: fromPct, steps: new RawJson(plan.steps) });
    const action = 'rollout.started';
    // Its own row, before that of the first step: from the step alone no screen would learn of a new plan.
    this.#journal.change({ kind: 'records.changed', projectId, payload: { actions: [action] } }, [
      { action, projectId, environmentId, target: flagKey, after },
    ]);
  }

  async move(
    plan: RolloutPlan,
    next: Partial<RolloutProgress>,
    { action, details }: { readonly action: RolloutAction; readonly details?: object },
  ): Promise<boolean> {
    const { text, parameters } = moveStatement(plan, next);
    if ((await this.#sql.query(text, parameters)).length === 0) return false;
    this.#journal.audit(moveEntry(plan, next, { action, ...defined({ details }) }));
    return true;
  }

  async stopOf(affected: Affected, { at, reason }: RolloutInterruption): Promise<void> {
    for (const plan of await this.openIn(affected)) {
      const next = { status: 'stopped', statusAt: at, statusBy: this.#journal.actor, reason } as const;
      await this.move(plan, next, { action: 'rollout.stopped' });
    }
  }

  async pauseOf(
    affected: Affected,
    { except, ...interruption }: RolloutInterruption & { readonly except?: string },
  ): Promise<void> {
    for (const plan of await this.openIn(affected)) {
      if (plan.id === except || plan.status !== 'running') continue;
      await this.move(plan, pauseBy(this.#journal.actor, interruption), { action: 'rollout.paused' });
    }
  }
}

/** The progress of a plan that `actor` interrupts. */
export function pauseBy(
  actor: string,
  { at, reason }: RolloutInterruption,
): Pick<RolloutProgress, 'status' | 'statusAt' | 'statusBy' | 'reason'> {
  return { status: 'paused', statusAt: at, statusBy: actor, reason };
}

/** Moves a plan to `next`, unless another writer has moved it; returns its id if it did. */
export function moveStatement(plan: RolloutPlan, next: Partial<RolloutProgress>): Required<Statement> {
  const { reason, dueAt, ...kept } = plan;
  const moved: RolloutPlan = { ...kept, ...next };
  return {
    text: `UPDATE rollout_plans SET open_flag = $4, runs_as = $5, runs_since = $6, status = $7, status_at = $8,
        status_by = $9, reason = $10, next_step = $11, due_at = $12, ran = $13, state_revision = $14
      WHERE id = $1 AND status = $2 AND next_step = $3
        AND status_at = $15 AND status_by = $16 AND runs_as = $17 AND runs_since = $18
      RETURNING id`,
    parameters: [
      ...[plan.id, plan.status, plan.nextStep, isOpen(moved) ? plan.flagKey : null],
      ...[moved.runsAs, moved.runsSince, moved.status, moved.statusAt, moved.statusBy, moved.reason ?? null],
      ...[moved.nextStep, moved.dueAt ?? null, moved.ran, moved.stateRevision ?? null],
      // A plan that was paused and resumed has the same status and step again.
      ...[plan.statusAt, plan.statusBy, plan.runsAs, plan.runsSince],
    ],
  };
}

/** The audit entry of {@link moveStatement}. */
export function moveEntry(
  plan: RolloutPlan,
  { reason, dueAt }: Partial<RolloutProgress>,
  { action, details }: { readonly action: RolloutAction; readonly details?: object },
): NewAuditEntry {
  const { id, projectId, environmentId, flagKey: target } = plan;
  const nextAt = dueAt === undefined ? undefined : isoTime(dueAt);
  const after = JSON.stringify({ id, reason, nextAt, ...details });
  return { action, projectId, environmentId, target, after };
}
