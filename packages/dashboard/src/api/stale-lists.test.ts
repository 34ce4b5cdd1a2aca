import { expect, test } from 'bun:test';
import { sourceFiles } from '@halyard/testing';
import { LISTS } from './stale-lists.ts';

const SERVER = `${import.meta.dir}/../../../server/src`;

test('every kind of change and every action of the audit log says which lists it makes stale', async () => {
  const names = new Set<string>();
  for await (const [, text] of sourceFiles(SERVER)) {
    // A noun and a past participle.
    for (const [, name = ''] of text.matchAll(/'([a-z]+\.[a-z_]*ed)'/g)) names.add(name);
  }
  expect(names.size).toBeGreaterThan(40);
  expect([...names].filter((name) => !(name in LISTS) && !(name.replace(/\..*/, '') in LISTS))).toEqual([]);
});
