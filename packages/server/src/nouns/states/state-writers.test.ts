import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ServiceError, StoreBusy, StoreOutage } from '../../domain/errors.ts';
import type { Environment } from '../../domain/project.ts';
import { CommitUncertainError, type Database } from '../../storage/database.ts';
import { SqlStore, type Store } from '../../storage/store.ts';
import { ENGINES, openTestStore, type TestEngine, withTransactions } from '../../storage/test-engines.ts';
import { ADA, auditEntries, makeEnvironment, readLog, seed, writeState } from '../../storage/test-records.ts';
import { insertEnvironment, readEnvironment } from '../environments/environment-table.ts';
import { readFlags } from '../flags/flag-table.ts';
import { changeStates } from './change-states.ts';
import { readStoredStates } from './state-table.ts';
import { type StateWrite, StateWriters } from './state-writers.ts';

setDefaultTimeout(60_000);

const text = (value: unknown) => `{"enabled":true,"value":${JSON.stringify(value)}}`;

/** A writer that sets a flag of the seeded environment to a value. */
function setting(key: string, value: unknown): StateWrite {
  return { actor: ADA, project: 'demo', environment: 'production', key, next: () => text(value) };
}

/** A writer that refuses whatever it finds. */
function refusing(key: string): StateWrite {
  const next = () => {
    throw new ServiceError('forbidden', 'not today');
  };
  return { ...setting(key, 0), next };
}

/** Sends all writes at the same time. */
function writeAll(store: Store, writes: readonly StateWrite[]) {
  return Promise.allSettled(writes.map((write) => writeState(store, write)));
}

/** The same database with a count of its write transactions, and a connection that can break during COMMIT. */
function watched(database: Database) {
  const watch = { transactions: 0, isAway: false, lost: undefined as 'request' | 'answer' | undefined };
  const broken = () =>
    new CommitUncertainError('the connection was lost during COMMIT', async () => 'aborted');
  const wrapped = withTransactions(database, async (work) => {
    watch.transactions++;
    if (watch.isAway) throw new Error('no connection');
    const { lost } = watch;
    watch.lost = undefined;
    const result = await database.transaction(async (transaction) => {
      const done = await work(transaction);
      if (lost === 'request') throw broken();
      return done;
    });
    if (lost === 'answer') throw broken();
    return result;
  });
  return { watch, database: wrapped };
}

const POISON = {
  sqlite: [
    `CREATE TRIGGER no_poison BEFORE INSERT ON flag_states WHEN NEW.flag_key = 'poison'
      BEGIN SELECT RAISE(ABORT, 'poisoned'); END`,
  ],
  postgres: [`ALTER TABLE flag_states ADD CONSTRAINT poisoned CHECK (flag_key <> 'poison')`],
} as const;

describe.each(ENGINES)('writers of one environment on $name', (engine: TestEngine) => {
  test('that meet share a transaction; each has a change, a revision and a seq of its own, in their order', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store, ['a', 'b']);
    const { watch, database } = watched(home.database);
    const store = new SqlStore(database);

    const keys = ['a', 'new', 'b', 'a', 'new'];
    const outcomes = await writeAll(
      store,
      keys.map((key, index) => setting(key, index)),
    );

    expect(watch.transactions).toBe(1);
    expect(outcomes).toEqual(
      keys.map((key, index) => ({
        status: 'fulfilled',
        value: {
          seq: 3 + index,
          result: {
            ...(index > 2 && { before: text(index - 3) }),
            changed: true,
            environmentRevision: 1 + index,
            stored: expect.objectContaining({
              flagKey: key,
              state: text(index),
              revision: 1 + index,
              updatedBy: ADA.name,
            }),
          },
        },
      })),
    );

    const log = await readLog(home.database, 2, 10);
    expect(log.map(({ seq, revision, payload }) => [seq, revision, JSON.parse(payload)])).toEqual(
      keys.map((key, index) => [3 + index, 1 + index, [[key, text(index)]]]),
    );

    await store.read(async (reader) => {
      expect(
        (await readStoredStates(reader, environment.id)).map(({ flagKey, state }) => [flagKey, state]),
      ).toEqual([
        ['a', text(3)],
        ['b', text(2)],
        ['new', text(4)],
      ]);
      expect((await readEnvironment(reader, environment.projectId, 'production'))?.revision).toBe(5);

      const entries = (await auditEntries(reader, { limit: 5, environmentId: environment.id })).toReversed();
      expect(entries.map(({ seq, operation, before, note }) => [seq, operation, before, note])).toEqual([
        [3, 3, undefined, 'because'],
        [4, 4, undefined, 'because'],
        [5, 5, undefined, 'because'],
        [6, 6, text(0), 'because'],
        [7, 7, text(1), 'because'],
      ]);
      const [created] = await auditEntries(reader, { limit: 1, action: 'flag.created', target: 'new' });
      expect(created).toMatchObject({ seq: 4, operation: 4 });
    });
  });

  test('decide one after the other: each finds what the one before it left', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store, ['a']);
    const found: unknown[] = [];
    const noting = (value: number): StateWrite => ({
      ...setting('a', value),
      next: ({ environment, flag, state }) => {
        found.push([environment.revision, flag !== undefined, state?.state, state?.revision]);
        return text(value);
      },
    });
    const outcomes = await writeAll(home.store, [noting(1), noting(1), noting(2)]);
    expect(found).toEqual([
      [0, true, undefined, undefined],
      [1, true, text(1), 1],
      [1, true, text(1), 1],
    ]);
    expect(outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value)).toMatchObject([
      { seq: 3, result: { changed: true } },
      { result: { changed: false, environmentRevision: 1, stored: { revision: 1 } } },
      { seq: 4, result: { changed: true } },
    ]);
  });

  test('a writer that is refused changes nothing, and the others commit', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store, []);
    const { watch, database } = watched(home.database);
    const store = new SqlStore(database);
    const writes = [setting('a', 1), refusing('b'), setting('c\0', 1), setting('c', 2)];
    const outcomes = await writeAll(store, writes);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(outcomes).toMatchObject([
      { value: { seq: 3 } },
      { reason: { code: 'forbidden' } },
      { reason: { code: 'invalid_argument' } },
      { value: { seq: 4, result: { environmentRevision: 2 } } },
    ]);
    expect(watch.transactions).toBe(1);
    await store.read(async (reader) => {
      expect((await readFlags(reader, environment.projectId)).map(({ key }) => key)).toEqual(['a', 'c']);
      expect((await readStoredStates(reader, environment.id)).map(({ flagKey }) => flagKey)).toEqual([
        'a',
        'c',
      ]);
    });
    // A refused change that is alone in its transaction writes nothing.
    await expect(writeState(store, refusing('b'))).rejects.toMatchObject({ code: 'forbidden' });
    expect((await readLog(home.database, 4, 10)).length).toBe(0);
  });

  test('a statement that fails for one of them fails that one alone', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store, []);
    for (const statement of POISON[engine.name]) await home.database.query(statement);
    const writes = ['a', 'poison', 'b'].map((key) => setting(key, 1));
    const outcomes = await writeAll(home.store, [...writes, setting('c', 1)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    const [, poisoned] = outcomes;
    expect(poisoned?.status === 'rejected' && String(poisoned.reason)).toContain('poisoned');
    const log = await readLog(home.database, 2, 10);
    expect(log.map(({ payload }) => JSON.parse(payload)[0][0])).toEqual(['a', 'b', 'c']);
    // The next ones meet in a group again.
    const { watch, database } = watched(home.database);
    await writeAll(new SqlStore(database), [setting('a', 2), setting('b', 2)]);
    expect(watch.transactions).toBe(1);
  });

  test('when the connection breaks during COMMIT, all of them learn whether they were committed', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store, []);
    const { watch, database } = watched(home.database);
    const store = new SqlStore(database);
    watch.lost = 'answer';
    const outcomes = await writeAll(store, [setting('a', 1), refusing('b'), setting('c', 1)]);
    expect(outcomes).toMatchObject([
      { value: { seq: 3 } },
      { reason: { code: 'forbidden' } },
      { value: { seq: 4 } },
    ]);
    expect((await readLog(home.database, 2, 10)).length).toBe(2);
    watch.lost = 'request';
    const lost = await writeAll(store, [setting('a', 2), refusing('b'), setting('c', 2)]);
    // The refusal rested on what was rolled back, so it is not reported either.
    for (const outcome of lost)
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreOutage) });
    expect(await readLog(home.database, 4, 10)).toEqual([]);
    expect(await writeState(store, setting('a', 2))).toMatchObject({ seq: 5 });
  });

  test('a group is bounded in writers and in bytes, and so is what waits', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store, []);
    const { watch, database } = watched(home.database);
    const store = new SqlStore(database);
    const many = Array.from({ length: 150 }, (_, index) => setting(`flag-${index}`, index));
    const outcomes = await writeAll(store, many);
    expect(watch.transactions).toBe(3);
    expect(outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value.seq)).toEqual(
      many.map((_, index) => 3 + index),
    );
    watch.transactions = 0;
    const large = many.slice(0, 40).map(({ key }) => setting(key, 'x'.repeat(60_000)));
    await writeAll(store, large);
    expect(watch.transactions).toBe(5);
    const log = await readLog(home.database, 152, 100);
    expect(log.map(({ payload }) => JSON.parse(payload)[0][0])).toEqual(large.map(({ key }) => key));
    // More than a thousand that wait are refused.
    const crowd = await writeAll(store, Array(1003).fill(refusing('a')));
    const isBusy = (outcome: (typeof crowd)[number]) =>
      outcome.status === 'rejected' && outcome.reason instanceof StoreBusy;
    expect(crowd.filter(isBusy).length).toBe(3);
  });

  test('a place that does not exist is named, and other places are not affected', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store, []);
    const outcomes = await writeAll(home.store, [
      { ...setting('a', 1), project: 'nowhere' },
      { ...setting('a', 1), environment: 'staging' },
      setting('a', 1),
    ]);
    expect(outcomes).toMatchObject([
      { reason: { code: 'project_not_found' } },
      { reason: { code: 'environment_not_found' } },
      { value: { seq: 3 } },
    ]);
  });

  test('without the database all that wait fail, and the next ones are written once it is back', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store, []);
    const { watch, database } = watched(home.database);
    const store = new SqlStore(database);
    const many = Array.from({ length: 200 }, (_, index) => setting(`flag-${index}`, index));
    watch.isAway = true;
    const outcomes = await writeAll(store, many);
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(watch.transactions).toBe(1);
    watch.isAway = false;
    expect(await writeState(store, setting('a', 1))).toMatchObject({ seq: 3 });
  });

  test('writers on two nodes, in groups and alone, leave no gap and no double', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store, ['a']);
    const other = new SqlStore(await home.connect());
    const groups = [home.store, other].flatMap((store, node) =>
      Array.from({ length: 30 }, (_, index) =>
        writeState(store, setting(`flag-${index % 7}`, `${node}-${index}`)),
      ),
    );
    const alone = Array.from({ length: 10 }, (_, index) =>
      other.commit(ADA, (transaction) => changeStates(transaction, environment, [['a', text(index)]])),
    );
    const seqs = (await Promise.all([...groups, ...alone])).map(({ seq }) => seq ?? 0);
    expect(seqs.sort((a, b) => a - b)).toEqual(Array.from({ length: 70 }, (_, index) => 3 + index));
    const log = await readLog(home.database, 2, 100);
    expect(log.map(({ revision }) => revision)).toEqual(Array.from({ length: 70 }, (_, index) => 1 + index));
    const found: Environment | undefined = await home.store.read((reader) =>
      readEnvironment(reader, environment.projectId, 'production'),
    );
    expect(found?.revision).toBe(70);
  });
});

describe('writers of several environments', () => {
  const [SQLITE] = ENGINES;
  const sqlite = () => openTestStore(SQLITE as TestEngine); // `ENGINES` begins with it

  test('share a transaction where one lock is for all: each has its own revision, and a seq in their order', async () => {
    await using home = await sqlite();
    const { project } = await seed(home.store, ['a']);
    await home.store.commit(ADA, (tx) => insertEnvironment(tx, makeEnvironment(project, 'staging')));
    const { watch, database } = watched(home.database);
    const writers = new StateWriters(new SqlStore(database), 'database');

    const places = ['production', 'staging', 'nowhere', 'production', 'staging'];
    const outcomes = await Promise.allSettled(
      places.map((environment, index) => writers.add({ ...setting('a', index), environment })),
    );

    expect(watch.transactions).toBe(1);
    expect(outcomes).toMatchObject([
      { value: { seq: 4, result: { environmentRevision: 1 } } },
      { value: { seq: 5, result: { environmentRevision: 1 } } },
      { reason: { code: 'environment_not_found' } },
      { value: { seq: 6, result: { environmentRevision: 2, before: text(0) } } },
      { value: { seq: 7, result: { environmentRevision: 2, before: text(1) } } },
    ]);
  });

  test('fail apart: a statement that fails for one of them fails that one alone', async () => {
    await using home = await sqlite();
    const { project } = await seed(home.store, []);
    await home.store.commit(ADA, (tx) => insertEnvironment(tx, makeEnvironment(project, 'staging')));
    for (const statement of POISON.sqlite) await home.database.query(statement);
    const writers = new StateWriters(home.store, 'database');

    const outcomes = await Promise.allSettled([
      writers.add(setting('a', 1)),
      writers.add({ ...setting('poison', 1), environment: 'staging' }),
      writers.add({ ...setting('b', 1), environment: 'staging' }),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
