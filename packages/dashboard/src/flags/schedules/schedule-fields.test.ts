import { describe, expect, test } from 'bun:test';
import { messages } from './messages.ts';
import {
  afterStep,
  type Draft,
  type DraftStep,
  findProblems,
  firstTime,
  scheduleOf,
  scheduleText,
} from './schedule-fields.ts';

const NOW = Date.parse('2027-01-31T12:00:00Z');
const KEYS = new Set(['a', 'b']);

describe('problems of a new schedule', () => {
  test('a past time, and no time', () => {
    expect(findProblems(draft([step('a')], '2020-01-01T00:00'), { keys: KEYS, now: NOW }).time).toBe(
      messages.timePast,
    );
    expect(findProblems(draft([step('a')], ''), { keys: KEYS, now: NOW }).time).toBe(messages.timeMissing);
  });

  const cases: readonly (readonly [what: string, step: DraftStep, problem: RegExp | undefined])[] = [
    ['no flag', step(''), /Select/],
    ['an unknown flag', step('c'), /does not exist/],
    ['a percentage that is not a number', { ...step('a'), kind: 'rollout', text: 'ten' }, /0 to 100/],
    ['a percentage with too many decimals', { ...step('a'), kind: 'rollout', text: '33.3333' }, /three/],
    ['a percentage with a comma', { ...step('a'), kind: 'rollout', text: '12,5' }, undefined],
    ['no percentage', { ...step('a'), kind: 'rollout', text: ' ' }, /0 to 100/],
    ['text without quotes', { ...step('a'), kind: 'value', text: 'hello' }, /JSON/],
    ['a whole step', { ...step('a'), kind: 'value', text: '"hello"' }, undefined],
  ];
  for (const [what, given, problem] of cases) {
    test(what, () => {
      const found = findProblems(draft([given]), { keys: KEYS, now: NOW }).steps.get(given.id);
      if (problem === undefined) expect(found).toBeUndefined();
      else expect(found).toMatch(problem);
    });
  }

  test('a flag listed twice', () => {
    const { steps } = findProblems(draft([step('a', 1), step('a', 2)]), { keys: KEYS, now: NOW });
    expect([...steps]).toEqual([[2, messages.flagTwice]]);
  });
});

test('a draft becomes what the API takes, with its time in UTC', () => {
  const local = '2099-01-31T12:00';
  expect(
    scheduleOf({ ...draft([{ ...step('a'), kind: 'rollout', text: '25' }], local), note: ' why ' }),
  ).toEqual({
    environment: 'production',
    dueAt: new Date(local).toISOString(),
    changes: [{ key: 'a', patch: { enabled: true, rolloutPct: 25 } }],
    note: 'why',
  });
});

test('a rollout turns a flag on only if that was selected', () => {
  const changesOf = (kind: 'rollout' | 'share') =>
    scheduleOf(draft([{ ...step('a'), kind, text: '12,5' }])).changes;
  expect(changesOf('rollout')).toEqual([{ key: 'a', patch: { enabled: true, rolloutPct: 12.5 } }]);
  expect(changesOf('share')).toEqual([{ key: 'a', patch: { rolloutPct: 12.5 } }]);
});

test('a value is sent as it was typed, because parsing changes long numbers', () => {
  const typed = '{"b":12345678901234567890,"1":1.0}';
  const given = draft([{ ...step('a'), kind: 'value', text: ` ${typed} ` }, step('b', 1)]);
  const text = scheduleText(given);
  expect(text).toContain(`{"key":"a","patch":{"value":${typed}}}`);
  expect(JSON.parse(text)).toEqual(scheduleOf(given));
});

test('the suggested time is an hour away, rounded to five minutes', () => {
  const first = new Date(firstTime(new Date('2027-01-31T12:01:30Z')));
  expect(first.toISOString()).toBe('2027-01-31T13:05:00.000Z');
});

test('a step is shown as the state after it', () => {
  expect(afterStep({ enabled: false, value: 1 }, { key: 'a', patch: { enabled: true } })).toEqual({
    enabled: true,
    value: 1,
  });
  expect(afterStep({ enabled: true }, { key: 'a', state: null })).toBeNull();
  expect(afterStep({ enabled: true, rolloutPct: 5 }, { key: 'a', patch: { unset: ['rolloutPct'] } })).toEqual(
    { enabled: true },
  );
});

function step(key: string, id = 0): DraftStep {
  return { id, key, kind: 'on', text: '' };
}

function draft(steps: readonly DraftStep[], time = '2099-01-31T12:00'): Draft {
  return { environment: 'production', time, steps, note: '' };
}
