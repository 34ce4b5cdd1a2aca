import { expect, test } from 'bun:test';
import type { ProposalRecord, RolloutPlanRecord, ScheduleRecord } from '../../api/types.ts';
import { daysFrom, dotsOf } from './axis.ts';
import { isLater, SPAN_MS, timelineItems } from './timeline-items.ts';

const HOUR_MS = 3_600_000;
const now = Date.parse('2026-11-23T11:00:00.000Z');
const iso = (hours: number) => new Date(now + hours * HOUR_MS).toISOString();

const schedule = (id: string, hours: number, more: Partial<ScheduleRecord> = {}): ScheduleRecord => ({
  id,
  environment: 'production',
  changes: [{ key: 'a', patch: { enabled: true, rolloutPct: 10 } }],
  createdBy: 'operator:ada@example.com',
  createdAt: iso(-1),
  dueAt: iso(hours),
  status: 'pending',
  ...more,
});

const plan = (id: string, more: Partial<RolloutPlanRecord>): RolloutPlanRecord => ({
  id,
  flag: 'b',
  environment: 'staging',
  status: 'running',
  statusBy: 'operator:ada@example.com',
  statusAt: iso(-1),
  createdBy: 'operator:ada@example.com',
  createdAt: iso(-1),
  fromPct: 0,
  runsAs: 'operator:ada@example.com',
  steps: [
    { rolloutPct: 5, status: 'done', ranAt: iso(-1) },
    { rolloutPct: 25, status: 'next', expectedAt: iso(2) },
    { rolloutPct: 50, status: 'waiting', expectedAt: iso(3) },
    { rolloutPct: 100, status: 'waiting', expectedAt: iso(200) },
  ],
  ...more,
});

const items = (ahead: {
  schedules?: readonly ScheduleRecord[];
  plans?: readonly RolloutPlanRecord[];
  proposals?: readonly ProposalRecord[];
  rolloutPct?: number;
}) =>
  timelineItems({
    schedules: ahead.schedules ?? [],
    plans: ahead.plans ?? [],
    proposals: ahead.proposals ?? [],
    stateOf: () => ({ enabled: true, rolloutPct: ahead.rolloutPct ?? 5 }),
    now,
  });

test('the next to happen comes first, what has no time last, and what has ended is left out', () => {
  const list = items({
    schedules: [
      schedule('later', 200),
      schedule('soon', 5),
      schedule('late', -1),
      schedule('done', -2, { status: 'done' }),
    ],
    plans: [plan('plan', {}), plan('paused', { status: 'paused' })],
  });
  expect(list.map(({ id, status }) => [id, status])).toEqual([
    ['late', 'overdue'],
    ['plan', 'planned'],
    ['soon', 'planned'],
    ['later', 'planned'],
    ['paused', 'paused'],
  ]);
  expect(list.filter((item) => isLater(item, now)).map(({ id }) => id)).toEqual(['later']);
});

test('a step that the rollout has passed is left out, and steps close together share a dot', () => {
  const [passed] = items({ plans: [plan('plan', {})], rolloutPct: 30 });
  expect(passed?.moments.map(({ label }) => label)).toEqual(['50 %', '100 %']);

  const [whole] = items({ plans: [plan('plan', {})] });
  const dots = dotsOf(whole?.moments ?? [], now);
  // The last step is beyond the seven days.
  expect(dots.map(({ label, moments }) => [label, moments.length])).toEqual([['25 % – 50 %', 2]]);
});

test('a change that waits for approval has the time that was proposed', () => {
  const effect = { action: 'schedule.created', target: 'id', environment: 'production' };
  const after = { dueAt: iso(4), changes: [{ key: 'a', state: null }] };
  // Only the members that the timeline reads.
  const proposal = { id: 'p', effects: [{ ...effect, after }], environments: ['production'] } as unknown;
  const [item] = items({ proposals: [proposal as ProposalRecord] });
  expect(item).toMatchObject({
    keys: ['a'],
    status: 'waiting',
    moments: [{ label: 'removed', at: now + 4 * HOUR_MS }],
  });
  const change = { id: 'q', effects: [{ action: 'flag.changed', target: 'a' }], environments: [] } as unknown;
  expect(items({ proposals: [change as ProposalRecord] })).toEqual([]);
});

test('the axis has the midnights of seven days', () => {
  const days = daysFrom(now);
  expect(days).toHaveLength(7);
  for (const { at, share } of days) {
    expect(new Date(at).getHours()).toBe(0);
    expect(share).toBeCloseTo((at - now) / SPAN_MS);
  }
});
