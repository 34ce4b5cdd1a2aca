import { expect, test } from 'bun:test';
import { valueLines } from './value-lines.tsx';

test('of two objects, two members that differ have a line each, and the others are counted', () => {
  const long = 'the same words '.repeat(10);
  const value = (last: string) => ({ a: { b: { theColorOfTheBorder: `${long}${last}` } }, c: last, d: last });
  const { lines, left } = valueLines(value('amber'), value('azure'));
  expect(left).toBe(1);
  expect(lines.map(({ path }) => path)).toEqual(['…theColorOfTheBorder', 'c']);
  const [first, second] = lines.map(({ sides }) => sides);
  expect(first).toEqual(['… words amber"', '… words azure"']);
  expect(second).toEqual(['"amber"', '"azure"']);
});

test('values without members to compare are cut to where they differ', () => {
  const { lines } = valueLines(`${'x'.repeat(100)}1`, `${'x'.repeat(100)}2`);
  expect(lines).toEqual([{ sides: [expect.stringMatching(/^….*1"$/), expect.stringMatching(/^….*2"$/)] }]);
  expect(valueLines(undefined, { a: 1 })).toEqual({ lines: [{ sides: [undefined, '{"a":1}'] }], left: 0 });
});
