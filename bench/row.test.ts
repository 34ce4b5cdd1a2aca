import { expect, test } from 'bun:test';
import { formatMarkdown, formatText, type Row } from './row.ts';

const ROW: Row = {
  what: 'a|b',
  measured: '1 ms',
  reference: '2 ms',
  ratio: '0.50 x',
  goal: '< 3 ms',
  verdict: 'yes',
};

test('writes a row as one line of Markdown, whatever it contains', () => {
  expect(formatMarkdown([ROW]).split('\n').at(-1)).toBe('| a\\|b | 1 ms | 2 ms | 0.50 x | < 3 ms | yes |');
});

test('writes a row as one line of text below its headings', () => {
  const [headings = '', line = ''] = formatText([ROW]).split('\n');
  expect(line.indexOf('1 ms')).toBe(headings.indexOf('measured'));
});
