import { expect, test } from 'bun:test';
import { numberOf } from './versus.ts';

test('figures of one kind are read in one unit', () => {
  expect(numberOf('84.6 k/s (11.7 µs CPU)')).toBe(84_600);
  expect(numberOf('721/s (p50 1.26 ms)')).toBe(721);
  expect(numberOf('p99 2.41 ms, median 80.0 µs')).toBeCloseTo(0.08);
  expect(numberOf('109 MiB (103 MiB before)')).toBe(109 * 1024);
  expect(numberOf('4.2 KiB')).toBe(4.2);
  expect(numberOf('995 ms')).toBe(995);
  expect(numberOf('all 8')).toBe(8);
  expect(numberOf('none')).toBeNaN();
});
