import { expect, test } from 'bun:test';
import { type Row, tableOf } from './row.ts';
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
