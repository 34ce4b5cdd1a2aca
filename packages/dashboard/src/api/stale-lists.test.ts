import { expect, test } from 'bun:test';
import { sourceFiles } from '@halyard/testing';
import { ACTION_TEXTS } from '../components/audit/action-text.ts';
import { queryKeys } from './query-cache.ts';
import { STALE, touchedBy } from './stale-lists.ts';

const SERVER = `${import.meta.dir}/../../../server/src`;

/** What no change of the log makes stale. */
const OTHERS: readonly string[] = [
  // Read again after every change.
  ...['audit', 'history'],
  // Read with the flag, and kept by revision.
  ...['namedValues', 'valueText'],
  // Read again when the stream ends, as it does for a person who loses rights.
  'session',
];

test('each action of the audit log and each kind of change has one row of lists that it makes stale', async () => {
  const names = new Set(Object.keys(ACTION_TEXTS));
  for await (const [, text] of sourceFiles(SERVER)) {
    // A noun and a past participle.
    for (const [, name = ''] of text.matchAll(/'([a-z]+\.[a-z_]*ed)'/g)) names.add(name);
  }
  expect(names.size).toBeGreaterThan(50);
  expect(STALE.flatMap(({ actions }) => actions).sort()).toEqual([...names].sort());
});

test('each list is stale after some change, or is read again in another way', () => {
  const lists = new Set<string>(STALE.flatMap(({ lists }) => lists));
  expect([...lists, ...OTHERS].sort()).toEqual(Object.keys(queryKeys).sort());
});

test('an action of a newer server makes the lists of its noun stale', () => {
  const change = { seq: 1, kind: 'records.changed', project: 'shop', at: '2026-11-01T00:00:00Z' };
  const touched = touchedBy({ ...change, actions: ['environment.swapped'] });
  expect(touched).toContainEqual(queryKeys.keys('shop'));
  expect(touched).not.toContainEqual(queryKeys.tokens);
  expect(touchedBy({ ...change, actions: ['weather.turned'] })).toEqual([
    queryKeys.audit,
    queryKeys.history('shop'),
  ]);
});
