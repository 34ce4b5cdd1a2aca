import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import pino from 'pino';
import { openSqlite } from '../storage/engines/sqlite.ts';
import { migrate } from '../storage/schema.ts';
import { SqlStore } from '../storage/store.ts';
import { SqlUsageStore } from '../storage/usage-store.ts';
import { Housekeeping } from './housekeeping.ts';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

test('old records are removed a minute after the start, and then every hour', async () => {
  const database = await openSqlite({ path: ':memory:' });
  await migrate(database);
  let rounds = 0;
  const housekeeping = new Housekeeping({
    readers: { takeUsedKeys: async () => [] },
    logServer: { takeContacts: () => new Set() },
    store: new SqlStore(database),
    database,
    tally: { take: () => [], add: () => {} },
    usage: new SqlUsageStore(database),
    deliveries: {
      prune: async () => {
        rounds++;
      },
    },
    log: pino({ level: 'silent' }),
  });
  jest.advanceTimersByTime(59_999);
  expect(rounds).toBe(0);
  jest.advanceTimersByTime(1);
  expect(rounds).toBe(1);
  jest.advanceTimersByTime(2 * 3_600_000 - 60_000);
  expect(rounds).toBe(3);
  housekeeping.close();
  jest.advanceTimersByTime(2 * 3_600_000);
  expect(rounds).toBe(3);
  await database.close();
});

test('the relay tokens that nodes follow with are noted every half minute', async () => {
  const noted: (readonly string[])[] = [];
  const housekeeping = new Housekeeping({
    readers: { takeUsedKeys: async () => [] },
    logServer: { takeContacts: () => new Set(['relay']) },
    // Housekeeping uses no more of the store here.
    store: {
      touchKeys: async () => {},
      touchRelays: async (uses: Iterable<[string, number]>) => noted.push([...new Map(uses).keys()]),
    } as never,
    database: undefined as never,
    deliveries: { prune: async () => {} },
    tally: { take: () => [], add: () => {} },
    usage: undefined as never,
    log: pino({ level: 'silent' }),
  });
  await housekeeping.noteUses();
  expect(noted).toEqual([['relay']]);
  housekeeping.close();
});
