import { expect, test } from 'bun:test';
import { sortItems } from './sort.ts';

const ITEMS = [
  { name: 'key-10', used: 3 },
  { name: 'Key-9', used: undefined },
  { name: 'key-1', used: 12 },
];

test.each([
  ['', false, 'key-10 Key-9 key-1'],
  ['name', false, 'key-1 Key-9 key-10'],
  ['name', true, 'key-10 Key-9 key-1'],
  ['used', false, 'key-10 key-1 Key-9'],
  ['used', true, 'key-1 key-10 Key-9'],
])('sorted by "%s" (reversed: %p) the items are %s', (by, isReversed, names) => {
  const sorted = sortItems(ITEMS, { by, isReversed }, (item, key) => item[key as 'name' | 'used']);
  expect(sorted.map(({ name }) => name).join(' ')).toBe(names);
});
