import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isInRollout, murmur3, rolloutBucket } from './rollout.ts';

function hash(text: string): number {
  return murmur3(new TextEncoder().encode(text));
}

describe('rollout', () => {
  test.each([
    ['', 0],
    ['hello', 613153351],
    ['new-checkout:user-1', 2230340631],
    ['flag-a:user-1', 661593472],
    ['флаг:юзер', 1426596846],
  ])('murmur3 of %j is the published %d', (text, expected) => {
    expect(hash(text)).toBe(expected);
  });

  test.each([
    ['new-checkout', 'user-1', 51929],
    ['new-checkout', 'user-2', 23104],
    ['new-checkout', 'user-3', 74416],
    ['flag-a', 'user-1', 15403],
    ['флаг', 'юзер', 33215],
  ])('%s for %s falls into the published bucket %d', (flagKey, targetingKey, bucket) => {
    expect(rolloutBucket(flagKey, targetingKey)).toBe(bucket);
  });

  test('0 per cent is nobody, 100 per cent and no percentage are everyone', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (flagKey, targetingKey) => {
        expect(isInRollout(flagKey, targetingKey, 0)).toBe(false);
        expect(isInRollout(flagKey, targetingKey, 100)).toBe(true);
        expect(isInRollout(flagKey, targetingKey, undefined)).toBe(true);
      }),
    );
  });

  test('raising the percentage never takes anybody out', () => {
    const percentage = fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1000);
    fc.assert(
      fc.property(fc.string(), fc.string(), percentage, percentage, (flagKey, targetingKey, a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        if (isInRollout(flagKey, targetingKey, low))
          expect(isInRollout(flagKey, targetingKey, high)).toBe(true);
      }),
    );
  });

  test('a rollout takes its share, and two flags choose independently of each other', () => {
    const people = Array.from({ length: 20_000 }, (_, i) => `user-${i}`);
    const inA = people.filter((person) => isInRollout('flag-a', person, 10));
    const inBoth = inA.filter((person) => isInRollout('flag-b', person, 10));
    expect(inA.length / people.length).toBeCloseTo(0.1, 2);
    expect(inBoth.length / people.length).toBeCloseTo(0.01, 2);
  });
});
