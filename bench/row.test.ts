import { expect, test } from 'bun:test';
import { milliseconds } from './format.ts';
import { type Row, reaches, rowOf, tableOf } from './row.ts';
import { formatMarkdownTable, formatTable } from './table.ts';

const ROW: Row = {
  what: 'a|b',
  measured: '1 ms',
  reference: '2 ms',
  ratio: '0.50 x',
  goal: '< 3 ms',
  isReached: true,
};

test('writes a row as one line of Markdown, whatever it contains', () => {
  const lines = formatMarkdownTable(tableOf([ROW, { what: 'c', measured: '4 ms' }])).split('\n');
  expect(lines.slice(-2)).toEqual([
    '| a\\|b | 1 ms | 2 ms | 0.50 x | < 3 ms | yes |',
    '| c | 4 ms |  |  |  |  |',
  ]);
});

test('writes a row as one line of text below its headings', () => {
  const [headings = '', line = ''] = formatTable(tableOf([ROW])).split('\n');
  expect(line.indexOf('1 ms')).toBe(headings.indexOf('measured'));
});

test('compares a figure with that of the reference, and judges it by its goal', () => {
  const row = rowOf('a wait', milliseconds, 40, { beside: ['bare', 20], goal: '<= 34 ms' });
  expect(row).toEqual({
    what: 'a wait',
    measured: '40.0 ms',
    value: 40,
    reference: 'bare: 20.0 ms',
    ratio: '2.00 x',
    goal: '<= 34 ms',
    isReached: false,
  });
});

test('a row reaches its goal when it reaches all of them', () => {
  const goalsOf = (p99: number) => ({ 'p50 <= 3 ms': 3, 'p99 < 1 s': p99 });
  expect(rowOf('a', String, 'x', { goal: goalsOf(999) })).toMatchObject({
    goal: 'p50 <= 3 ms, p99 < 1 s',
    isReached: true,
  });
  expect(rowOf('a', String, 'x', { goal: goalsOf(1_000) }).isReached).toBe(false);
});

test('goals are in the units of their figures', () => {
  expect(reaches('>= 10 k/s', 9_999)).toBe(false);
  expect(reaches('<= 10.0 µs', 0.01)).toBe(true);
  expect(reaches('<= 64 MiB more', 64 * 2 ** 20)).toBe(true);
  expect(reaches('<= 5 KiB', 5 * 1024 + 1)).toBe(false);
  expect(reaches('>= 85 %', 0.84)).toBe(false);
  expect(reaches('<= + 18 %', 0.17)).toBe(true);
  expect(reaches('<= 15 ns beyond it', 16)).toBe(false);
  expect(reaches('never', true)).toBe(true);
  expect(reaches('<= 5 ms', Number.NaN)).toBe(false);
});
