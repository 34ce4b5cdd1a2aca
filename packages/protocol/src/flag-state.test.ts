import { describe, expect, test } from 'bun:test';
import { isRolloutPct, parseFlagState } from './flag-state.ts';

describe('parseFlagState', () => {
  test('keeps the specified members and nothing else', () => {
    const data = { enabled: true, value: null, rolloutPct: 12.5, extra: 1 };
    expect(parseFlagState(data)).toEqual({ enabled: true, value: null, rolloutPct: 12.5 });
    expect(Object.keys(parseFlagState({ enabled: false }) ?? {})).toEqual(['enabled']);
  });

  test.each([
    [null],
    [1],
    ['on'],
    [[]],
    [{}],
    [{ enabled: 'true' }],
    [{ enabled: true, rolloutPct: null }],
    [{ enabled: true, rolloutPct: 101 }],
  ])('rejects %j', (data) => {
    expect(parseFlagState(data)).toBeUndefined();
  });
});

describe('isRolloutPct', () => {
  test.each([0, 100, 0.001, 12.345, 99.999, 33.3, 1e-3])('%d is allowed', (value) => {
    expect(isRolloutPct(value)).toBe(true);
  });

  test.each([-0.001, 100.001, 0.0001, 33.3333, Number.NaN, Number.POSITIVE_INFINITY, '50', null])(
    '%p is not',
    (value) => {
      expect(isRolloutPct(value)).toBe(false);
    },
  );
});
