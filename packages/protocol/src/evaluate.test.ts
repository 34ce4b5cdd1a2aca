import { describe, expect, test } from 'bun:test';
import evaluation from '../../../conformance/fixtures/evaluation.json';
import { evaluate, readTargetingKey } from './evaluate.ts';
import { parseFlagState } from './flag-state.ts';

test.each(evaluation.cases)('$name', ({ flagKey, state, targetingKey, expected: { ofrep, ...expected } }) => {
  expect(evaluate(flagKey, parseFlagState(state), targetingKey)).toEqual({
    value: undefined,
    ...expected,
  } as never);
});

describe('a targeting key from outside', () => {
  test.each([
    ['ada', 'ada'],
    ['', ''],
    [42, '42'],
    [-0, '0'],
    [1.5, '1.5'],
    [12345678901234567890n, '12345678901234567890'],
    [undefined, undefined],
  ])('%p counts as %p', (given, key) => {
    expect(readTargetingKey(given)).toBe(key);
  });

  test.each([null, Number.NaN, Number.POSITIVE_INFINITY, true, {}, [['ada']], Symbol('ada'), () => 'ada'])(
    '%p is no key: its reader is outside every partial rollout, and inside what is on for everyone',
    (given) => {
      const key = readTargetingKey(given);
      expect(key).toBeNull();
      expect(evaluate('a', { enabled: true, value: 1, rolloutPct: 99.999 }, key)).toEqual({
        isOn: false,
        value: undefined,
        reason: 'split',
      });
      expect(evaluate('a', { enabled: true, rolloutPct: 0 }, key).isOn).toBe(false);
      expect(evaluate('a', { enabled: true, rolloutPct: 100 }, key).isOn).toBe(true);
    },
  );
});
