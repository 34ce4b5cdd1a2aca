import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ENGINES, openTestStore, type TestEngine } from '../../storage/test-engines.ts';
import { ADA, auditEntries, changing, makeEnvironment, readLog, seed } from '../../storage/test-records.ts';
import { insertEnvironment } from '../environments/environment-table.ts';
import { changeStates } from './change-states.ts';
import { readStoredState, readStoredStates } from './state-table.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';

describe.each(ENGINES)('a change of states on $name', (engine: TestEngine) => {
  test('a state names its last author, but not one who wrote the same again', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store, ['a', 'b']);
    const ci = { ...ADA, name: 'token:ci' };
    await home.store.commit(ADA, changing(environment, ['a', OFF], ['b', OFF]));
    await home.store.commit(ci, changing(environment, ['a', ON], ['b', OFF]));
    const states = await home.store.read((reader) => readStoredStates(reader, environment.id));
    expect(states.map(({ flagKey, updatedBy }) => [flagKey, updatedBy])).toEqual([
      ['a', 'token:ci'],
      ['b', ADA.name],
    ]);
    expect((await home.store.read((reader) => readStoredState(reader, environment.id, 'a')))?.updatedBy).toBe(
      'token:ci',
    );
  });

  test('a change of several flags is one revision, one log row and an audit entry for each', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store, ['a', 'b', 'c']);
    await home.store.commit(ADA, changing(environment, ['a', OFF], ['b', ON]));
    const { result, seq } = await home.store.commit(
      ADA,
      changing(environment, ['a', ON], ['b', null], ['c', ON]),
    );
    expect(result).toEqual({ revision: 2, changed: ['a', 'b', 'c'] });
    const [row] = await readLog(home.database, (seq ?? 0) - 1, 10);
    expect(row).toMatchObject({ kind: 'flags.changed', environmentId: environment.id, revision: 2 });
    expect(JSON.parse(row?.payload ?? '')).toEqual([
      ['a', ON],
      ['b', null],
      ['c', ON],
    ]);
    expect(row?.actor).toBe(ADA.name);
    const states = await home.store.read((reader) => readStoredStates(reader, environment.id));
    expect(states.map(({ flagKey, state, revision }) => [flagKey, state, revision])).toEqual([
      ['a', ON, 2],
      ['c', ON, 2],
    ]);
    const entries = await home.store.read((reader) =>
      auditEntries(reader, { environmentId: environment.id, limit: 3 }),
    );
    expect(entries.map(({ action, target, before, after }) => [action, target, before, after])).toEqual([
      ['flag.changed', 'c', undefined, ON],
      ['flag.changed', 'b', ON, undefined],
      ['flag.changed', 'a', OFF, ON],
    ]);
  });

  test('drops operations that change nothing, and writes nothing if there are no others', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store, ['a', 'b']);
    await home.store.commit(ADA, changing(environment, ['a', ON]));
    const before = await everything(home.database);
    const noop = await home.store.commit(ADA, changing(environment, ['a', ON], ['b', null]));
    expect(noop).toEqual({ result: { revision: 1, changed: [] } });
    expect(await everything(home.database)).toEqual(before);
    const { result } = await home.store.commit(ADA, changing(environment, ['a', ON], ['b', ON]));
    expect(result).toEqual({ revision: 2, changed: ['b'] });
    expect(await home.store.read((reader) => readStoredState(reader, environment.id, 'a'))).toMatchObject({
      revision: 1,
    });
  });

  test('the last of several operations on one flag counts', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const { result } = await home.store.commit(
      ADA,
      changing(environment, ['checkout', OFF], ['checkout', ON]),
    );
    expect(result).toEqual({ revision: 1, changed: ['checkout'] });
    expect(
      await home.store.read((reader) => readStoredState(reader, environment.id, 'checkout')),
    ).toMatchObject({
      state: ON,
    });
  });

  test('several changes in one operation have consecutive seq, in their order', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store, ['a']);
    const staging = makeEnvironment(project, 'staging');
    const { seq } = await home.store.commit(ADA, async (transaction) => {
      await insertEnvironment(transaction, staging);
      await changeStates(transaction, staging, [['a', ON]]);
      await changeStates(transaction, environment, [['a', ON]]);
      await changeStates(transaction, staging, [['a', OFF]]);
    });
    expect(seq).toBe(6);
    const rows = await readLog(home.database, 2, 10);
    expect(rows.map((row) => [row.seq, row.kind, row.environmentId, row.revision])).toEqual([
      [3, 'environment.created', staging.id, undefined],
      [4, 'flags.changed', staging.id, 1],
      [5, 'flags.changed', environment.id, 1],
      [6, 'flags.changed', staging.id, 2],
    ]);
  });

  test('thousands of flags change at once', async () => {
    await using home = await openTestStore(engine);
    const keys = Array.from({ length: 1_500 }, (_, index) => `flag-${index}`);
    const { environment } = await seed(home.store, keys);
    const all = (state: string | null) => keys.map((key) => [key, state] as const);
    await home.store.commit(ADA, changing(environment, ...all(ON)));
    await home.store.commit(ADA, changing(environment, ...all(OFF)));
    expect((await home.store.read((reader) => readStoredStates(reader, environment.id))).length).toBe(1_500);
    const { result } = await home.store.commit(ADA, changing(environment, ...all(null)));
    expect(result).toEqual({ revision: 3, changed: keys });
    expect(await home.store.read((reader) => readStoredStates(reader, environment.id))).toEqual([]);
  });
});

/** All rows that a change may touch. */
async function everything(database: { query(text: string): Promise<unknown[]> }): Promise<unknown[]> {
  const tables = ['feed', 'environments', 'flags', 'flag_states', 'change_log', 'audit_log'];
  return Promise.all(tables.map((table) => database.query(`SELECT * FROM ${table} ORDER BY 1, 2`)));
}
