import { describe, expect, test } from 'bun:test';
import { evaluateFor, shareOfBucket } from './evaluate-box.tsx';

describe('evaluating for a key', () => {
  test.each([
    ['new-checkout', 'user-1', '51.929'],
    ['new-checkout', 'user-2', '23.104'],
    ['new-checkout', 'user-3', '74.416'],
    ['flag-a', 'user-1', '15.403'],
    ['флаг', 'юзер', '33.215'],
  ])('%s for %s stands at the published %s', (flag, key, share) => {
    expect(shareOfBucket(flag, key)).toBe(share);
  });

  test('somebody is in when the rollout is above where they stand, not when it is equal', () => {
    const at = (rolloutPct: number) =>
      evaluateFor('new-checkout', 'user-1', { enabled: true, rolloutPct }).isOn;
    expect([at(51.928), at(51.929), at(51.93)]).toEqual([false, false, true]);
  });

  test('a flag that is off or not there is off for everybody', () => {
    expect(evaluateFor('new-checkout', 'user-1', { enabled: false, rolloutPct: 100 }).isOn).toBe(false);
    expect(evaluateFor('new-checkout', 'user-1', undefined).isOn).toBe(false);
    expect(evaluateFor('new-checkout', 'user-1', { enabled: true }).isOn).toBe(true);
  });
});
