import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import rollout from '../../../conformance/fixtures/rollout.json';
import { isInRollout, murmur3, rolloutBucket } from './rollout.ts';

describe('rollout', () => {
  test.each(rollout.hashes)('the murmur3 hash of $text is $hash', ({ text, hash }) => {
    expect(murmur3(new TextEncoder().encode(text))).toBe(hash);
  });

  test.each(rollout.buckets)(
    'flag $flagKey puts $targetingKey into bucket $bucket',
    ({ flagKey, targetingKey, bucket }) => {
      expect(rolloutBucket(flagKey, targetingKey)).toBe(bucket);
    },
  );

  test('0 percent excludes everyone, 100 percent and no percentage include everyone', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (flagKey, targetingKey) => {
        expect(isInRollout(flagKey, targetingKey, 0)).toBe(false);
        expect(isInRollout(flagKey, targetingKey, 100)).toBe(true);
        expect(isInRollout(flagKey, targetingKey, undefined)).toBe(true);
      }),
    );
  });

  test('raising the percentage excludes no one who was included', () => {
    const percentage = fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1000);
    fc.assert(
      fc.property(fc.string(), fc.string(), percentage, percentage, (flagKey, targetingKey, a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        if (isInRollout(flagKey, targetingKey, low))
          expect(isInRollout(flagKey, targetingKey, high)).toBe(true);
      }),
    );
  });

  test('a rollout includes its share, independently for each flag', () => {
    const people = Array.from({ length: 20_000 }, (_, i) => `user-${i}`);
    const inA = people.filter((person) => isInRollout('flag-a', person, 10));
    const inBoth = inA.filter((person) => isInRollout('flag-b', person, 10));
    expect(inA.length / people.length).toBeCloseTo(0.1, 2);
    expect(inBoth.length / people.length).toBeCloseTo(0.01, 2);
  });
});
