import { expect, test } from 'bun:test';
import { defined } from './defined.ts';

test('only members that are undefined are left out', () => {
  const members = defined({ a: undefined, b: null, c: 0, d: '' });
  expect(Object.entries(members)).toEqual([
    ['b', null],
    ['c', 0],
    ['d', ''],
  ]);
});

test('members that may be undefined are optional in the type', () => {
  const given: { name: string; note: string | undefined } = { name: 'a', note: undefined };
  const result: { readonly name: string; readonly note?: string } = defined(given);
  expect(result).toEqual({ name: 'a' });
});
