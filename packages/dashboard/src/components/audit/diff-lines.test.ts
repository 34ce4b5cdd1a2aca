import { expect, test } from 'bun:test';
import { cutAround, diffLines } from './diff-lines.ts';

/** Pairs as `before|after`, with `=` between the same lines. */
function read(before: string, after: string): string[] {
  const lines = (text: string) => (text === '' ? [] : text.split(' '));
  return diffLines(lines(before), lines(after)).map(
    (pair) => `${pair.before ?? ''}${pair.isSame ? '=' : '|'}${pair.after ?? ''}`,
  );
}

test('lines that are the same on both sides are paired', () => {
  expect(read('a b c', 'a x c')).toEqual(['a=a', 'b|x', 'c=c']);
  expect(read('a b c', 'a c')).toEqual(['a=a', 'b|', 'c=c']);
  expect(read('a c', 'a b c d')).toEqual(['a=a', '|b', 'c=c', '|d']);
  expect(read('x a y b z', 'a q b')).toEqual(['x|', 'a=a', 'y|q', 'b=b', 'z|']);
  expect(read('', 'a')).toEqual(['|a']);
  expect(read('', '')).toEqual([]);
});

test('a moved comma is no difference', () => {
  expect(read('a b', 'a, b')).toEqual(['a=a,', 'b=b']);
});

test('very long texts are compared without much memory', () => {
  const lines = (start: number) => Array.from({ length: 5_000 }, (_, index) => `${start + index}`);
  const pairs = diffLines(['same', ...lines(0)], ['same', ...lines(9_000)]);
  expect(pairs).toHaveLength(5_001);
  expect(pairs.filter(({ isSame }) => isSame)).toHaveLength(1);
});

test('texts that differ early are cut to a part that shows where they differ', () => {
  for (const most of [60, 160])
    for (const start of [0, 5, 33, 45, 90]) {
      const [one, other] = cutAround(
        `${'x'.repeat(start)}1${'y'.repeat(200)}`,
        `${'x'.repeat(start)}2${'y'.repeat(200)}`,
        most,
      );
      expect([most, start, one?.includes('1'), other?.includes('2')]).toEqual([most, start, true, true]);
    }
});
