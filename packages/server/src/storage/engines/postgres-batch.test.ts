import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sharedPostgres, until, within } from '@halyard/testing';
import { StoreOutage } from '../../domain/errors.ts';
import {
  insertEnvironment,
  lockEnvironment,
  readEnvironments,
} from '../../nouns/environments/environment-table.ts';
import { insertFlags } from '../../nouns/flags/flag-table.ts';
import type { Database } from '../database.ts';
import { migrate } from '../schema.ts';
import { SqlStore } from '../store.ts';
import { withTransactions } from '../test-engines.ts';
import { ADA, makeEnvironment, makeFlag, readLog, seed, writeState } from '../test-records.ts';
import { openPostgres } from './postgres.ts';
import { openHome } from './test-home.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';

describe('groups and batches on PostgreSQL', () => {
  test.each(['before', 'after'] as const)(
    'writers of a group whose connection breaks %s COMMIT all learn their outcome',
    async (when) => {
      await using home = await openHome();
      const writeAll = (values: readonly number[]) =>
        Promise.allSettled(
          values.map((value) =>
            writeState(home.store, {
              actor: ADA,
              project: 'demo',
              environment: 'production',
              key: `flag-${value}`,
              next: () => `{"enabled":true,"value":${value}}`,
            }),
          ),
        );
      home.proxy.cutOn(['pg_notify'], when);
      const outcomes = await writeAll([1, 2, 3]);
      const log = await readLog(home.direct, 2, 10);
      expect(log.length).toBe(when === 'before' ? 0 : 3);
      for (const [index, outcome] of outcomes.entries()) {
        if (when === 'after') expect(outcome).toMatchObject({ value: { seq: 3 + index } });
        else expect(outcome).toMatchObject({ reason: expect.any(StoreOutage) });
      }
      expect((await writeAll([4])).at(0)).toMatchObject({ value: { seq: 3 + log.length } });
    },
  );

  test('a group whose COMMIT arrives after its connection broke is found committed', async () => {
    await using home = await openHome();
    let attempts = 0;
    const transaction: Database['transaction'] = async (work) => {
      const isFirstLookUp = ++attempts === 2;
      // The server still waits for the bytes when the outcome is looked up for the first time.
      return home.database.transaction(work).finally(() => isFirstLookUp && home.proxy.restore());
    };
    const store = new SqlStore(withTransactions(home.database, transaction));
    home.proxy.cutOn(['pg_notify'], 'ahead');
    const written = await writeState(store, {
      actor: ADA,
      project: 'demo',
      environment: 'production',
      key: 'checkout',
      next: () => ON,
    });
    expect(written).toMatchObject({ seq: 3, result: { changed: true } });
    expect(attempts).toBeGreaterThan(2);
    expect(await readLog(home.direct, 2, 10)).toMatchObject([{ seq: 3, revision: 1 }]);
  });

  test('groups of two environments that bring the same new flags do not deadlock', async () => {
    await using home = await openHome();
    await home.store.commit(ADA, (transaction) =>
      insertEnvironment(transaction, makeEnvironment(home.project, 'other')),
    );
    const writeAll = (environment: string, keys: readonly string[]) =>
      keys.map((key) =>
        writeState(home.store, { actor: ADA, project: 'demo', environment, key, next: () => ON }),
      );
    let writes: Promise<unknown>[] = [];
    let blockers: unknown[] = [];
    const held = new SqlStore(home.direct).commit(ADA, async (transaction) => {
      await insertFlags(transaction, [makeFlag(home.project, 'held')]);
      writes = [...writeAll('production', ['a', 'held', 'b']), ...writeAll('other', ['b', 'held', 'a'])];
      const waiting = `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND datname = current_database()`;
      await until('both groups wait', async () => (await home.direct.query(waiting)).length === 2);
      blockers = await home.direct.query(
        'SELECT DISTINCT unnest(pg_blocking_pids(pid)) FROM pg_stat_activity WHERE datname = current_database()',
      );
      throw new Error('not today');
    });
    await expect(held).rejects.toThrow('not today');
    await Promise.all(writes);
    // One group waited for this one, with all flags before "held"; the other waited for that group, with none yet.
    expect(blockers.length).toBe(2);
  });

  test('a lock on one environment does not hold up the writers of another', async () => {
    await using home = await openHome();
    const other = makeEnvironment(home.project, 'other');
    await home.store.commit(ADA, (transaction) => insertEnvironment(transaction, other));
    const writeIn = (environment: string) =>
      writeState(home.store, {
        actor: ADA,
        project: 'demo',
        environment,
        key: 'checkout',
        next: () => ON,
      });
    let waiting: Promise<unknown> = Promise.resolve();
    // As a large import does.
    await new SqlStore(home.direct).commit(ADA, async (transaction) => {
      await lockEnvironment(transaction, home.environment.id);
      waiting = writeIn('production');
      expect(await within('the other writer', writeIn('other'))).toMatchObject({ seq: 4 });
    });
    expect(await waiting).toMatchObject({ seq: 5, result: { environmentRevision: 1 } });
  });

  test('statements are prepared once for each connection, and no more once a pooler has mixed them up', async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const database = await openPostgres({ url, poolSize: 1 });
    await migrate(database);
    const store = new SqlStore(database);
    await seed(store);

    const write = (value: number) =>
      writeState(store, {
        actor: ADA,
        project: 'demo',
        environment: 'production',
        key: 'checkout',
        next: () => `{"enabled":true,"value":${value}}`,
      });
    const prepared = async () =>
      (await database.query(`SELECT name FROM pg_prepared_statements WHERE name LIKE 'halyard%'`)).length;

    await write(1);
    const count = await prepared();
    expect(count).toBeGreaterThan(5);
    await write(2);
    expect(await prepared()).toBe(count);

    // The failure of one statement leaves those before it prepared, and the others not.
    const broken = database.transaction((transaction) =>
      transaction.batch([
        { text: 'SELECT 1 AS one' },
        { text: 'SELECT sqrt(-1)' },
        { text: 'SELECT 2 AS two' },
      ]),
    );
    await expect(broken).rejects.toThrow('cannot take square root');
    const both = [{ text: 'SELECT 2 AS two' }, { text: 'SELECT 1 AS one' }];
    expect(await database.transaction((transaction) => transaction.batch(both))).toEqual([
      [{ two: 2 }],
      [{ one: 1 }],
    ]);
    expect(await prepared()).toBe(count + 3);

    // What a transaction finds that the pooler sends to another connection of the server.
    await database.query('DEALLOCATE ALL');
    expect(await write(3)).toMatchObject({ result: { changed: true, environmentRevision: 3 } });
    expect(await write(4)).toMatchObject({ result: { changed: true, environmentRevision: 4 } });
    expect(await prepared()).toBe(0);

    await database.close();
  });

  test('a statement that was prepared returns the same columns when it runs again, and after it had no rows', async () => {
    await using home = await openHome();
    const text = 'SELECT $1::bigint AS number, $2::text AS "someText", NULL AS nothing WHERE $1::bigint > 0';
    const run = (number: number) =>
      home.database.transaction(async (transaction) => {
        const [rows] = await transaction.batch([{ text, parameters: [number, 'a'] }]);
        return rows;
      });

    expect(await run(0)).toEqual([]);
    expect(await run(1)).toEqual([{ number: 1, someText: 'a', nothing: null }]);
    expect(await run(0)).toEqual([]);
    expect(await run(2)).toEqual([{ number: 2, someText: 'a', nothing: null }]);
  });

  test('of a batch in which a statement fails, nothing is kept, and what follows it does not run', async () => {
    await using home = await openHome();
    const raise = {
      text: 'UPDATE environments SET revision = 7 WHERE id = $1',
      parameters: [home.environment.id],
    };
    const batches = [
      [raise, { text: 'SELECT sqrt(-1)' }],
      [{ text: 'SELECT sqrt(-1)' }, raise, { text: 'COMMIT' }],
      [{ text: 'NONSENSE' }, raise],
    ];
    for (const batch of batches)
      await expect(home.database.transaction((transaction) => transaction.batch(batch))).rejects.toThrow();
    const atCommit = home.database.transaction(async (transaction) => {
      transaction.atCommit(raise);
      transaction.atCommit({ text: 'SELECT sqrt(-1)' });
    });
    await expect(atCommit).rejects.toThrow('cannot take square root');
    expect(await home.store.read((reader) => readEnvironments(reader, home.project.id))).toEqual([
      home.environment,
    ]);
  });
});
