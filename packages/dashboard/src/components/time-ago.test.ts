import { expect, test } from 'bun:test';
import { fullTime, timeAgo } from './time-ago.tsx';

const NOW = Date.parse('2026-03-01T12:00:00Z');

test.each([
  [0, 'just now'],
  [-59_000, 'just now'],
  [-3 * 60_000, '3 min ago'],
  [-2 * 3_600_000, '2 hr ago'],
  [-86_400_000, 'yesterday'],
  [-31 * 86_400_000, 'last month'],
  [-400 * 86_400_000, 'last year'],
  [3 * 86_400_000, 'in 3 days'],
  [30_000, 'in a moment'],
  [12 * 3_600_000, 'in 12 hr'],
])('%d ms from now is "%s"', (distance, words) => {
  expect(timeAgo(NOW + distance, NOW)).toBe(words);
});

test('a full time shows local time and UTC', () => {
  expect(fullTime(new Date(NOW))).toEndWith('(2026-03-01 12:00:00 UTC)');
});
