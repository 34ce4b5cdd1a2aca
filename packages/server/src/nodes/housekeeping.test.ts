import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import type { FlagReads } from '@halyard/protocol';
import pino from 'pino';
import { StoreOutage } from '../domain/errors.ts';
import { UsageTally } from '../evaluation/usage/usage-tally.ts';
import { insertRelayToken, readRelayTokens } from '../nouns/relays/relay-token-table.ts';
import { SqlUsageStore } from '../nouns/usage/usage-table.ts';
import { CommitUncertainError } from '../storage/database.ts';
import { openSqlite } from '../storage/engines/sqlite.ts';
import { migrate } from '../storage/schema.ts';
import { SqlStore } from '../storage/store.ts';
import { ADA } from '../storage/test-records.ts';
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
    tally: { take: () => [], add: () => 0 },
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
  const database = await openSqlite({ path: ':memory:' });
  await migrate(database);
  const store = new SqlStore(database);
  const token = { id: 'relay', name: 'edge', createdAt: 1 };
  await store.commit(ADA, (tx) => insertRelayToken(tx, token, 'digest'));
  const housekeeping = new Housekeeping({
    readers: { takeUsedKeys: async () => [] },
    logServer: { takeContacts: () => new Set(['relay']) },
    store,
    database,
    deliveries: { prune: async () => {} },
    tally: { take: () => [], add: () => 0 },
    usage: undefined as never,
    log: pino({ level: 'silent' }),
  });
  await housekeeping.noteUses();
  expect(await readRelayTokens(store)).toEqual([{ ...token, lastUsedAt: Date.now() }]);
  housekeeping.close();
  await database.close();
});

test('reads of flags are stored in parts; what was not stored counts the next time, what may have been does not', async () => {
  const database = await openSqlite({ path: ':memory:' });
  await migrate(database);
  const flags = Array.from({ length: 1001 }, (_, i): FlagReads => [`flag-${i}`, 1, 0]);
  const environment = { wantsUsage: true, state: () => '{"enabled":true}' };
  // The tally uses no more of an environment.
  const tally = new UsageTally({ environmentWithId: () => environment as never });

  const usage = new SqlUsageStore(database);
  let failure: Error | undefined = new StoreOutage('away');
  const parts: number[] = [];
  const logged: string[] = [];

  const housekeeping = new Housekeeping({
    readers: { takeUsedKeys: async () => [] },
    logServer: { takeContacts: () => new Set() },
    store: new SqlStore(database),
    database,
    tally,
    usage: {
      add: async (part, at) => {
        parts.push(part.reduce((sum, each) => sum + each.flags.length, 0));
        if (failure !== undefined && parts.length === 1) throw failure;
        await usage.add(part, at);
      },
      prune: async () => {},
    },
    deliveries: { prune: async () => {} },
    log: pino({}, { write: (line) => void logged.push(JSON.parse(line).msg) }),
  });

  tally.add({ environmentId: 'e', flags: flags.slice(0, 500) });
  tally.add({ environmentId: 'f', flags: flags.slice(500) });
  await housekeeping.storeUsage();
  failure = undefined;
  await housekeeping.storeUsage();

  expect(parts).toEqual([1000, 1, 1000]);
  const stored = 'SELECT count(*) AS flags, sum(reads) AS reads FROM flag_usage';
  expect(await database.query(stored)).toEqual([{ flags: 1001, reads: 1001 }]);
  await housekeeping.storeUsage();
  expect(parts).toHaveLength(3);

  tally.add({ environmentId: 'e', flags: flags.slice(0, 1) });
  failure = new CommitUncertainError('lost during COMMIT', async () => undefined);
  parts.length = 0;
  await housekeeping.storeUsage();
  await housekeeping.storeUsage();
  expect(parts).toEqual([1]);
  // An outage is the follower's to report.
  expect(logged).toEqual(['some reads of flags may be lost: the connection broke while they were stored']);

  housekeeping.close();
  await database.close();
});
