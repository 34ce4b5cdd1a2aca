import { expect, test } from 'bun:test';
import { distributionOf, percentile } from './distribution.ts';

test('times are counted by size; empty ranges at both ends are left out', () => {
  expect(distributionOf([3, 4, 30, 30])).toEqual([
    { name: '2 to 5 ms', count: 2 },
    { name: '5 to 10 ms', count: 0 },
    { name: '10 to 25 ms', count: 0 },
    { name: '25 to 50 ms', count: 2 },
  ]);
  expect(
    distributionOf([0, 5_000])
      .map(({ name }) => name)
      .at(0),
  ).toBe('under 2 ms');
  expect(
    distributionOf([0, 5_000])
      .map(({ name }) => name)
      .at(-1),
  ).toBe('over 1 s');
  expect(distributionOf([])).toEqual([]);
});

test('a percentile is one of the times', () => {
  expect(percentile([4, 1, 3, 2], 0.5)).toBe(3);
  expect(percentile([7], 0.95)).toBe(7);
  expect(percentile([], 0.5)).toBe(0);
});
