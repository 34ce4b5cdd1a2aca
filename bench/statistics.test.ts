import { expect, test } from 'bun:test';
import { median, percentile } from './statistics.ts';

test('a percentile is one of the values, in whatever order', () => {
  const figures = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(figures, 0.99)).toBe(99);
  expect(percentile(figures, 1)).toBe(100);
  expect(percentile(figures, 0)).toBe(1);
  expect(median([3, 1, 2])).toBe(2);
});

test('an empty list has no median', () => {
  expect(() => median([])).toThrow();
});
