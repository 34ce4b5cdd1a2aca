import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Snapshot } from '../domain/change-log.ts';
import { insertEnvironment, removeEnvironment } from '../nouns/environments/environment-table.ts';
import { insertKey, readKey, storeKeyRevocation } from '../nouns/keys/key-table.ts';
import { changeStates } from '../nouns/states/change-states.ts';
import { loadSnapshot } from './change-log.ts';
import { SqlStore } from './store.ts';
import { ENGINES, openTestStore, type TestEngine } from './test-engines.ts';
import { ADA, changing, makeEnvironment, makeKey, readLog, seed } from './test-records.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';

describe.each(ENGINES)('the snapshot on $name', (engine: TestEngine) => {
  test('an empty database has an empty snapshot at the beginning of its log', async () => {
    await using home = await openTestStore(engine);
    expect(await loadSnapshot(home.database)).toEqual({
      cursor: { epoch: expect.any(String), seq: 0, changeId: '' },
      projects: [],
      environments: [],
      states: [],
      keys: [],
      relays: [],
    });
  });

  test('holds live environments, states and every key, and their position in the log', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    const gone = makeEnvironment(project, 'gone');
    const key = { ...makeKey(project), expiresAt: 1_800_000_000_000 };
    await home.store.commit(ADA, async (transaction) => {
      await insertEnvironment(transaction, gone);
      await changeStates(transaction, gone, [['checkout', ON]]);
      await removeEnvironment(transaction, gone);
      await insertKey(transaction, key, 'd1gest');
      await storeKeyRevocation(transaction, key, 1_795_000_000_000);
    });
    const { seq = 0 } = await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    const [last] = await readLog(home.database, seq - 1, 1);
    expect(await loadSnapshot(home.database)).toEqual({
      cursor: { epoch: expect.any(String), seq, changeId: last?.changeId ?? '' },
      projects: [{ id: project.id, name: 'demo' }],
      environments: [{ id: environment.id, projectId: project.id, name: 'production', revision: 1 }],
      states: [{ environmentId: environment.id, flagKey: 'checkout', state: ON }],
      keys: [
        {
          id: key.id,
          projectId: project.id,
          digest: 'd1gest',
          environments: '["production"]',
          expiresAt: 1_800_000_000_000,
          revokedAt: 1_795_000_000_000,
        },
      ],
      relays: [],
    });
  });

  test('a key does not open a new environment with the name of a deleted one', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    const key = makeKey(project);
    await home.store.commit(ADA, async (transaction) => {
      await insertKey(transaction, key, 'd'.repeat(64));
      await insertKey(transaction, { ...makeKey(project), environments: ['staging'] }, 'e'.repeat(64));
      await removeEnvironment(transaction, environment);
      await insertEnvironment(transaction, environment);
    });
    const { keys } = await loadSnapshot(home.database);
    // Still a key, of no environment that there can be: its readers get 404 rather than 401.
    expect(keys.map(({ environments }) => environments).sort()).toEqual([
      '["production (deleted)"]',
      '["staging"]',
    ]);
    expect((await home.store.read((reader) => readKey(reader, key.id)))?.environments).toEqual([]);
  });

  test('passes damaged columns on as they are', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    await home.store.commit(ADA, (transaction) => insertKey(transaction, makeKey(project), 'd1gest'));
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await home.database.transaction(async (transaction) => {
      await transaction.query(`UPDATE project_keys SET environments = '[1, {', expires_at = -1`);
      await transaction.query(`UPDATE flag_states SET state = '}'`);
      // Only SQLite lets a text into a column of numbers.
      if (engine.name === 'sqlite') await transaction.query(`UPDATE project_keys SET revoked_at = 'soon'`);
    });
    const { keys, states } = await loadSnapshot(home.database);
    const revokedAt = engine.name === 'sqlite' ? 'soon' : null;
    expect(keys).toMatchObject([{ environments: '[1, {', expiresAt: -1, revokedAt }]);
    expect(states).toMatchObject([{ state: '}' }]);
  });

  test('taken during writes, it is the state after exactly the rows up to its cursor', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store, ['a', 'b']);
    const writer = new SqlStore(await home.connect());
    const writing = (async () => {
      for (let value = 1; value <= 60; value++) {
        const state = `{"enabled":true,"value":${value}}`;
        await writer.commit(ADA, changing(environment, ['a', state], ['b', value % 3 === 0 ? null : state]));
      }
    })();
    const snapshots: Snapshot[] = [];
    for (let turn = 0; turn < 20; turn++) snapshots.push(await loadSnapshot(home.database));
    await writing;
    const rows = await readLog(home.database, 0, 1_000);
    for (const { cursor, states, environments } of snapshots) {
      const expected = new Map<string, string>();
      for (const row of rows.slice(0, cursor.seq)) {
        if (row.kind !== 'flags.changed') continue;
        const operations: [string, string | null][] = JSON.parse(row.payload);
        for (const [key, state] of operations)
          state === null ? expected.delete(key) : expected.set(key, state);
      }
      expect(new Map(states.map(({ flagKey, state }) => [flagKey, state]))).toEqual(expected);
      expect(environments[0]?.revision).toBe(cursor.seq - 2);
      expect(cursor.changeId).toBe(rows[cursor.seq - 1]?.changeId ?? '');
    }
  });

  test('loads ten thousand flags at once', async () => {
    await using home = await openTestStore(engine);
    const keys = Array.from({ length: 10_000 }, (_, index) => `flag-${index}`);
    const { project, environment } = await seed(home.store, []);
    const flags = keys.map((key) => `('${project.id}', '${key}', '', '[]', 0)`).join(', ');
    await home.database.transaction((transaction) =>
      transaction.query(`INSERT INTO flags (project_id, key, description, tags, created_at) VALUES ${flags}`),
    );
    await home.store.commit(ADA, changing(environment, ...keys.map((key) => [key, ON] as const)));
    expect((await loadSnapshot(home.database)).states.length).toBe(10_000);
  });
});
