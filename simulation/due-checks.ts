import type { Asked } from './due-history.ts';
import type { SimulatedEngine } from './engine.ts';
import type { Arrival } from './receiver.ts';

/** The end of a history of what is due. */
interface DueEnd {
  readonly engine: SimulatedEngine;
  readonly asked: Asked;
  readonly arrivals: readonly Arrival[];
  readonly projectId: string;
  /** The change that made the webhook. */
  readonly hookedAt: number;
  /** How far the clocks of two nodes may be apart, in milliseconds. */
  readonly apartMs: number;
}

/** What each step of a plan but the first waits for. */
const STEP_MS = 60_000;

interface Found {
  readonly violations: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

/** Compares the tables and what the receiver got with what was asked for. */
export function checkDue(end: DueEnd): Found {
  const violations = [...checkSchedules(end), ...checkPlans(end), ...checkArrivals(end)];
  const counts = new Map<string, number>();
  for (const { action } of entriesOf(end)) counts.set(action, (counts.get(action) ?? 0) + 1);
  counts.set('delivered', end.arrivals.filter(({ isTaken }) => isTaken).length);
  counts.set('refused', end.arrivals.filter(({ isTaken }) => !isTaken).length);
  return { violations, counts };
}

/** A schedule changes its flag once, not before it is due, and not where it was canceled. */
function* checkSchedules({ engine, asked }: DueEnd): Generator<string> {
  const log = engine.peek<{ payload: string }>(`SELECT payload FROM change_log WHERE kind = 'flags.changed'`);
  const stored = new Map(
    engine
      .peek<{ id: string; status: string; settledAt: number | null }>(
        'SELECT id, status, settled_at AS "settledAt" FROM scheduled_changes',
      )
      .map((row) => [row.id, row]),
  );
  for (const { value, dueAt, id, isCanceled } of asked.schedules) {
    const times = log.filter(({ payload }) => payload.includes(`\\"${value}\\"`)).length;
    if (times > 1) yield `${value} was made ${times} times`;
    if (isCanceled && times > 0) yield `${value} was made, and its schedule was canceled`;
    const { status, settledAt } = stored.get(id ?? '') ?? {};
    if (id === undefined || status === undefined) continue;
    if (status === 'pending') yield `${value} is pending in the end`;
    if (status === 'failed') yield `${value} failed`;
    if ((status === 'done') !== (times === 1)) yield `${value} is ${status}, and was made ${times} times`;
    if (status === 'done' && (settledAt ?? 0) < dueAt) yield `${value} was made before it was due`;
  }
}

/** The steps of a plan run once each, in their order, all of them, and none too early. */
function* checkPlans(end: DueEnd): Generator<string> {
  const entries = entriesOf(end).filter(({ action }) => action === 'rollout.advanced');
  const plans = end.engine.peek<{ id: string; status: string; reason: string | null; ran: string }>(
    'SELECT id, status, reason, ran FROM rollout_plans',
  );
  for (const { id, status, reason, ran } of plans) {
    const steps = entries
      .filter(({ target }) => target === id)
      .map(({ after }) => (JSON.parse(after ?? '{}') as { step?: number }).step);
    const isWhole = steps.every((step, index) => step === index + 1);
    if (!isWhole) yield `a plan took its steps ${steps.join(', ')}`;
    const times = JSON.parse(ran) as number[];
    const isEarly = times.some((at, index) => at - (times[index - 1] ?? 0) < STEP_MS - end.apartMs);
    if (isEarly) yield `a plan took its steps at ${times.join(', ')}`;
    if (status !== 'done') yield `a plan is ${status} after ${steps.length} steps: ${reason}`;
  }
}

/** Every change reaches the receiver, and none for the first time after a later one. */
function* checkArrivals(end: DueEnd): Generator<string> {
  const taken = new Set(end.arrivals.filter(({ isTaken }) => isTaken).map(({ seq }) => seq));
  const changes = new Set(entriesOf(end).map(({ seq }) => seq));
  for (const seq of changes)
    if (seq > end.hookedAt && !taken.has(seq)) yield `change ${seq} was never delivered`;

  let newest = 0;
  const seen = new Set<number>();
  for (const { seq } of end.arrivals) {
    if (!seen.has(seq) && seq < newest) yield `change ${seq} came after ${newest}`;
    seen.add(seq);
    newest = Math.max(newest, seq);
  }
}

interface Entry {
  readonly seq: number;
  readonly action: string;
  readonly target: string;
  readonly after: string | null;
}

function entriesOf({ engine, projectId }: DueEnd): Entry[] {
  return engine.peek<Entry>(
    `SELECT COALESCE(operation_seq, seq) AS seq, action, target, after FROM audit_log
      WHERE project_id = '${projectId}' ORDER BY seq, position`,
  );
}
