import { expect, test } from 'bun:test';
import { ROLLOUT_PRESETS, type RolloutPreset } from '@halyard/protocol';
import { draftOf, endOf, problemOf, stepsOf, timedSteps, withStep } from './plan-fields.ts';

const NOW = Date.parse('2027-01-31T12:00:00Z');

test('every preset is a plan that the server accepts, as it is', () => {
  for (const [name, steps] of Object.entries(ROLLOUT_PRESETS)) {
    // The names of the presets are their keys.
    const draft = draftOf(name as RolloutPreset, 0);
    expect(stepsOf(draft)).toEqual(steps);
    expect(problemOf(draft, { now: NOW, reachPct: 0 })).toBeUndefined();
  }
});

test('a preset leaves out the steps that the flag has reached', () => {
  const draft = draftOf('usual', 5);
  expect(draft).toMatchObject([
    { share: '25', when: 'now' },
    { share: '100', when: 'days', wait: '1' },
  ]);
  expect(endOf(draft, NOW)).toBe(NOW + 86_400_000);
});

test.each([
  [50, '75'],
  [98.5, '99.25'],
])('a preset of which one step is left above %d %% has another one before it', (reachPct, half) => {
  // The names of the presets are their keys.
  for (const name of Object.keys(ROLLOUT_PRESETS) as RolloutPreset[]) {
    const draft = draftOf(name, reachPct);
    expect(draft).toMatchObject([{ share: half, when: 'now' }, { share: '100' }]);
    expect(problemOf(draft, { now: NOW, reachPct })).toBeUndefined();
  }
});

test('the steps of a plan have times, except for those that run at once', () => {
  const hour = 3_600_000;
  expect(timedSteps(ROLLOUT_PRESETS.quick, NOW)).toEqual([
    { rolloutPct: 10 },
    { rolloutPct: 50, dueAt: NOW + hour },
    { rolloutPct: 100, dueAt: NOW + 2 * hour },
  ]);
  // A time that has passed while the plan was paused.
  expect(timedSteps([{ rolloutPct: 50, at: new Date(NOW - hour).toISOString() }], NOW)).toEqual([
    { rolloutPct: 50 },
  ]);
});

test('a draft is refused with the words of the server, for the step that is wrong', () => {
  const [first, second, third] = draftOf('usual', 0);
  if (first === undefined || second === undefined || third === undefined) throw new Error('three steps');
  const problem = (...draft: Parameters<typeof stepsOf>[0]) => problemOf(draft, { now: NOW, reachPct: 0 });
  expect(problem(first)?.message).toBe(
    'The plan has 1 step: a plan has 2 to 20. For one change, set the rollout or schedule it.',
  );
  expect(problem(first, { ...second, share: '3' })).toEqual({
    step: 1,
    message: 'Step 2 (3 %) must be higher than the 5 % of step 1.',
  });
  expect(problem(first, { ...second, share: '' })?.message).toContain('Step 2 must be a percentage above 0');
  expect(problem(first, { ...second, wait: 'x' })?.message).toContain(
    'The wait before step 2 must be 1 minute to 90 days',
  );
  expect(problem(first, { ...second, when: 'at', time: '' })?.message).toContain(
    'The time of step 2 must be a date',
  );
  expect(problem(first, { ...second, share: '12,5', when: 'at', time: '2027-02-01T12:00' })).toBeUndefined();
});

test('a step that is added is halfway to everyone', () => {
  expect(withStep(draftOf('usual', 0).slice(0, 2)).at(-1)).toMatchObject({
    id: 2,
    share: '63',
    when: 'hours',
  });
});
