import { describe, expect, test } from 'bun:test';
import type { StateRecord } from '../../api/types.ts';
import { draftOf, isDirty, planOf, problemsOf, stateOf } from './state-draft.ts';

function version(state: StateRecord['state'], valueText?: string) {
  const record = { state, revision: 1, updatedAt: '2027-01-01T00:00:00.000Z' };
  return {
    record,
    valueText: valueText ?? (state.value === undefined ? undefined : JSON.stringify(state.value)),
  };
}

describe('a draft of a state', () => {
  test('is clean as long as only its layout differs, and dirty when its notation does', () => {
    const served = version({ enabled: true, value: 1000 }, '1e3');
    expect(isDirty(draftOf(served), served)).toBe(false);
    expect(isDirty({ ...draftOf(served), text: ' 1e3\n' }, served)).toBe(false);
    expect(isDirty({ ...draftOf(served), text: '1000' }, served)).toBe(true);
    expect(isDirty({ ...draftOf(served), isEveryone: false }, served)).toBe(true);
  });

  test('becomes a state; blank is no value, and everyone is no percentage', () => {
    expect(stateOf({ text: ' ', isEveryone: true, pct: '7' }, true)).toEqual({
      state: { enabled: true },
      valueText: undefined,
    });
    expect(stateOf({ text: '{ "a": 1.0 }', isEveryone: false, pct: '12,345' }, false)).toEqual({
      state: { enabled: false, value: { a: 1 }, rolloutPct: 12.345 },
      valueText: '{"a":1.0}',
    });
  });

  test.each(['', 'x', '-1', '100.001', '0.0001', '1e9'])('a rollout of %j is refused', (pct) => {
    expect(problemsOf({ text: '', isEveryone: false, pct }).rollout).toContain('0 to 100');
  });

  test('a scheduled change holds only the differences, and the value in its own notation', () => {
    const served = version({ enabled: false, value: 1, rolloutPct: 5 });
    const draft = draftOf(served);
    expect(planOf(served, draft, 'keep')).toBeUndefined();
    expect(planOf(served, draft, 'on')?.patchText).toBe('{"enabled":true}');
    expect(planOf(served, { ...draft, text: '2e0' }, 'keep')?.patchText).toBe('{"value":2e0}');
    expect(planOf(served, { ...draft, pct: '50' }, 'on')?.patchText).toBe('{"enabled":true,"rolloutPct":50}');
    expect(planOf(served, { text: '', isEveryone: true, pct: '' }, 'keep')?.patchText).toBe(
      '{"unset":["value","rolloutPct"]}',
    );
  });
});
