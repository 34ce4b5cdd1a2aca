import { expect, test } from 'bun:test';
import { QueryClient } from '@tanstack/react-query';
import { isOwnWrite, type ShownRecord, shownState, writeInTurn } from './state-writes.ts';
import type { StateRecord } from './types.ts';

const PLACE = { project: 'shop', environment: 'production', key: 'checkout' };
const PLACES = { project: 'shop', environment: 'production', keys: ['checkout'] };
const OTHER = { ...PLACE, key: 'search' };
const BEFORE: StateRecord = {
  state: { enabled: false, value: 7 },
  revision: 4,
  updatedAt: '',
  valueName: 'seven',
};
const AFTER = { enabled: true, value: 7 };

/** A write that ends when the test says so, and shows nothing where there is nothing to show. */
function open(
  queries: QueryClient,
  after: typeof AFTER | null | 'nothing' = AFTER,
  before: ShownRecord | undefined = BEFORE,
) {
  const answer = Promise.withResolvers<{ record?: StateRecord; revision?: number }>();
  let hasBegun = false;
  const run = () => {
    hasBegun = true;
    return answer.promise;
  };
  const wished = after === 'nothing' ? undefined : { before, after };
  const ended = writeInTurn(queries, PLACES, { run, isQuiet: () => false, wished });
  return { answer, ended, hasBegun: () => hasBegun };
}

/** What is shown of a state with this record while the writes of a client run. */
function shownNow(queries: QueryClient, record: StateRecord | undefined): ShownRecord | undefined {
  const [running] = queries
    .getMutationCache()
    .findAll({ mutationKey: ['write', 'shop', 'production', 'checkout'], status: 'pending' });
  return shownState(record, running as Parameters<typeof shownState>[1]);
}

/** Until what has ended is known everywhere. */
async function settled(queries: QueryClient): Promise<void> {
  while (queries.isMutating() > 0) await new Promise(setImmediate);
}

test('a state is shown as it is written, and as the server said once the write has failed', async () => {
  const queries = new QueryClient();
  const write = open(queries);
  const shown = shownNow(queries, BEFORE);
  expect(shown).toMatchObject({ state: AFTER, revision: 4, valueName: 'seven' });

  write.answer.reject(new Error('refused'));
  await expect(write.ended).rejects.toThrow('refused');
  expect(shownNow(queries, BEFORE)).toBe(BEFORE);
});

test('nothing is shown of a write that waits for another, or that makes no change now', async () => {
  const queries = new QueryClient();
  const first = open(queries, null);
  const second = open(queries);
  await Promise.resolve();
  expect([first.hasBegun(), second.hasBegun()]).toEqual([true, false]);
  expect(shownNow(queries, BEFORE)).toBeUndefined();

  first.answer.resolve({});
  await first.ended;
  while (!second.hasBegun()) await new Promise(setImmediate);
  expect(shownNow(queries, undefined)).toMatchObject({ state: AFTER, revision: 0 });
  second.answer.resolve({ revision: 6 });
  await second.ended;

  open(queries, 'nothing');
  expect(shownNow(queries, BEFORE)).toBe(BEFORE);
});

test('what the server says while a state is written is shown: it may be another person\u2019s', () => {
  const queries = new QueryClient();
  open(queries);
  const newer: StateRecord = { state: { enabled: false }, revision: 6, updatedAt: '' };
  expect(shownNow(queries, newer)).toBe(newer);
});

test('what is shown names the write that leaves it, whose record a later change begins from', async () => {
  const queries = new QueryClient();
  const write = open(queries);
  const shown = shownNow(queries, BEFORE);
  expect(shown?.write?.state.data).toBeUndefined();
  const record: StateRecord = { state: AFTER, revision: 5, updatedAt: 'now' };
  write.answer.resolve({ record, revision: 5 });
  await write.ended;
  expect(shown?.write?.state.data?.record).toBe(record);
  expect(shownState(BEFORE, undefined)).toBe(BEFORE);
});

test('a revision is this tab\u2019s own while it is written, and for a moment after it', async () => {
  const queries = new QueryClient();
  expect(isOwnWrite(queries, PLACE, 5)).toBe(false);
  const write = open(queries);
  expect([isOwnWrite(queries, PLACE, 5), isOwnWrite(queries, OTHER, 5)]).toEqual([true, false]);
  write.answer.resolve({ revision: 5 });
  await write.ended;
  await settled(queries);
  expect([4, 5, 6].map((revision) => isOwnWrite(queries, PLACE, revision))).toEqual([false, true, false]);

  const refused = open(queries);
  refused.answer.reject(new Error('refused'));
  await expect(refused.ended).rejects.toThrow();
  expect(isOwnWrite(queries, PLACE, 6)).toBe(false);
});
