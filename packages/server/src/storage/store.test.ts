import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { insertAccessToken, readAccessTokens } from '../nouns/access-tokens/access-token-table.ts';
import {
  insertEnvironment,
  lockEnvironment,
  readEnvironments,
} from '../nouns/environments/environment-table.ts';
import { readFlag, readFlags, storeFlag } from '../nouns/flags/flag-table.ts';
import { insertKey, readKey, readKeys } from '../nouns/keys/key-table.ts';
import { insertProject } from '../nouns/projects/project-table.ts';
import { changeStates } from '../nouns/states/change-states.ts';
import { readStoredState, readStoredStates } from '../nouns/states/state-table.ts';
import { CommitUncertainError, type Database } from './database.ts';
import { storeLastUse } from './last-use.ts';
import { SqlStore } from './store.ts';
import { ENGINES, openTestStore, type TestEngine, withTransactions } from './test-engines.ts';
import {
  ADA,
  auditEntries,
  changing,
  makeEnvironment,
  makeFlag,
  makeKey,
  makeProject,
  makeToken,
  readLog,
  seed,
} from './test-records.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';

describe.each(ENGINES)('the store on $name', (engine: TestEngine) => {
  test('an operation that fails at its end leaves nothing behind, and rejects with its error', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    const before = await home.database.query('SELECT * FROM audit_log');
    const failure = new RangeError('on purpose');
    const attempt = home.store.commit(ADA, async (transaction) => {
      await changeStates(transaction, environment, [['checkout', ON]]);
      await storeFlag(transaction, makeFlag(project, 'other'));
      await insertKey(transaction, makeKey(project), 'digest');
      await insertEnvironment(transaction, makeEnvironment(project, 'staging'));
      throw failure;
    });
    await expect(attempt).rejects.toBe(failure);
    await home.store.read(async (reader) => {
      expect(await readStoredStates(reader, environment.id)).toEqual([]);
      expect((await readFlags(reader, project.id)).map((flag) => flag.key)).toEqual(['checkout']);
      expect(await readKeys(reader, project.id)).toEqual([]);
      expect(await readEnvironments(reader, project.id)).toEqual([environment]);
    });
    expect(await home.database.query('SELECT * FROM audit_log')).toEqual(before);
    const { seq } = await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    expect(seq).toBe(3);
  });

  test("rejects with the engine's error, and the next operation works", async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    await expect(home.store.commit(ADA, changing(environment, ['no-such-flag', ON]))).rejects.toThrow(
      /foreign key/i,
    );
    const { result } = await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    expect(result.revision).toBe(1);
  });

  test('an operation whose statement failed cannot commit by hiding the failure', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const raise = 'UPDATE environments SET revision = 7 WHERE id = $1';
    const fail = 'INSERT INTO flags (key) VALUES ($1)';
    const before = home.database.transaction(async (transaction) => {
      await transaction.query(fail, ['x']).catch(() => undefined);
      await transaction.query(raise, [environment.id]);
    });
    await expect(before).rejects.toThrow(/aborted|had failed/);
    const after = home.database.transaction(async (transaction) => {
      await transaction.query(raise, [environment.id]);
      await transaction.query(fail, ['x']).catch(() => undefined);
    });
    await expect(after).rejects.toThrow(/aborted|had failed/);
    expect(await home.store.read((reader) => readEnvironments(reader, environment.projectId))).toEqual([
      environment,
    ]);
  });

  test('a text that is refused before it is sent does not fail its transaction', async () => {
    await using home = await openTestStore(engine);
    const rows = await home.database.transaction(async (transaction) => {
      await expect(transaction.query('SELECT $1', ['\ud800'])).rejects.toThrow();
      return transaction.query('SELECT 1 AS one');
    });
    expect(rows).toEqual([{ one: 1 }]);
  });

  test('rejects a query after the end of its transaction', async () => {
    await using home = await openTestStore(engine);
    const leaked = await home.database.transaction(async (transaction) => transaction);
    await expect(leaked.query('SELECT 1')).rejects.toThrow('has ended');
  });

  test('writers on two nodes race on one flag: revisions and seq have no gaps, and each change appears once', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const stores = [home.store, new SqlStore(await home.connect())];
    const writes = stores.map(async (store, node) => {
      const revisions: number[] = [];
      for (let turn = 0; turn < 40; turn++) {
        const state = `{"enabled":true,"value":"${node}-${turn}"}`;
        revisions.push((await store.commit(ADA, changing(environment, ['checkout', state]))).result.revision);
      }
      return revisions;
    });
    const revisions = (await Promise.all(writes)).flat().sort((a, b) => a - b);
    expect(revisions).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    const rows = await readLog(home.database, 2, 1_000);
    expect(rows.map((row) => row.seq)).toEqual(rows.map((_, index) => index + 3));
    expect(rows.map((row) => row.revision)).toEqual(rows.map((_, index) => index + 1));
    expect(new Set(rows.map((row) => row.payload)).size).toBe(80);
  });

  test('writers on different environments race: seq has no gaps, not even for a reader in between', async () => {
    await using home = await openTestStore(engine);
    const { project } = await seed(home.store);
    const environments = ['a', 'b', 'c', 'd'].map((name) => makeEnvironment(project, name));
    for (const environment of environments) {
      await home.store.commit(ADA, (transaction) => insertEnvironment(transaction, environment));
    }
    const other = new SqlStore(await home.connect());
    let writing = true;
    const writers = environments.map(async (environment, index) => {
      const store = index % 2 === 0 ? home.store : other;
      for (let turn = 0; turn < 25; turn++) {
        await store.commit(ADA, changing(environment, ['checkout', `{"enabled":true,"value":${turn}}`]));
      }
    });
    const reader = (async () => {
      const session = await (await home.connect()).openLogSession();
      let seq = 0;
      for (let last = false; !last; ) {
        last = !writing;
        for (const row of await readLog(session, seq, 500)) {
          expect(row.seq).toBe(seq + 1);
          seq = row.seq;
        }
        await Bun.sleep(0);
      }
      return seq;
    })();
    await Promise.all(writers);
    writing = false;
    expect(await reader).toBe(2 + 4 + 100);
  });

  test('a lock on an environment makes other writers wait, so a checked revision still holds at commit', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const other = new SqlStore(await home.connect());
    const increment = (store: SqlStore) =>
      store.commit(ADA, async (transaction) => {
        await lockEnvironment(transaction, environment.id);
        const stored = await readStoredState(transaction, environment.id, 'checkout');
        const value = stored === undefined ? 0 : JSON.parse(stored.state).value;
        await changeStates(transaction, environment, [['checkout', `{"enabled":true,"value":${value + 1}}`]]);
      });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => increment(index % 2 === 0 ? home.store : other)),
    );
    const state = await home.store.read((reader) => readStoredState(reader, environment.id, 'checkout'));
    expect(state).toMatchObject({ state: '{"enabled":true,"value":20}', revision: 20 });
  });

  test('reads JSON texts and flag keys back as they were written', async () => {
    await using home = await openTestStore(engine);
    const states = [
      '{"enabled":true,"value":"\\u0000"}',
      '{"enabled":true,"value":"\\ud800"}',
      '{"enabled":true,"value":{"b":1,"a":2,"10":3,"9":4,"__proto__":5}}',
      '{"enabled":true,"value":1.0}',
      '{"enabled":true,"value":1e400}',
      '{"enabled":true,"value":12345678901234567890}',
      '{"enabled":true,"value":-0}',
      '{"enabled":true,"value":null}',
      '{"enabled":true,"value":"\u2028\u{1f600}\\"\\\\ $1 ?1 %s"}',
      '{"enabled":false,"value":[[[]]],"rolloutPct":0.125}',
    ];
    const keys = ['__proto__', 'constructor', 'a.b', '..', "it's", '"', '$1', '%00', '\u{1f600}', ' '];
    const { project, environment } = await seed(home.store, keys);
    const operations = keys.map((key, index) => [key, states[index] ?? ON] as const);
    await home.store.commit(ADA, changing(environment, ...operations));
    const stored = await home.store.read((reader) => readStoredStates(reader, environment.id));
    expect(new Map(stored.map(({ flagKey, state }) => [flagKey, state]))).toEqual(new Map(operations));
    const [row] = await readLog(home.database, 2, 1);
    expect(JSON.parse(row?.payload ?? '')).toEqual(operations.map((operation) => [...operation]));
    expect(await home.store.read((reader) => readFlag(reader, project.id, '__proto__'))).toMatchObject({
      tags: [],
    });
  });

  test('the reads of one call share one snapshot, despite concurrent writes', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store, ['a', 'b']);
    const other = new SqlStore(await home.connect());
    const both = (value: number) =>
      changing(
        environment,
        ['a', `{"enabled":true,"value":${value}}`],
        ['b', `{"enabled":true,"value":${value}}`],
      );
    await home.store.commit(ADA, both(0));
    const writer = (async () => {
      for (let value = 1; value <= 30; value++) await other.commit(ADA, both(value));
    })();
    for (let turn = 0; turn < 30; turn++) {
      await home.store.read(async (reader) => {
        const a = await readStoredState(reader, environment.id, 'a');
        await Bun.sleep(1);
        const b = await readStoredState(reader, environment.id, 'b');
        expect(b?.state).toBe(a?.state ?? '');
      });
    }
    await writer;
  });

  test('the note of a last use moves forward only and leaves no log row', async () => {
    await using home = await openTestStore(engine);
    const { project } = await seed(home.store);
    const key = makeKey(project);
    await home.store.commit(ADA, (transaction) => insertKey(transaction, key, 'digest'));
    const head = (await readLog(home.database, 0, 100)).length;
    // More than one transaction takes.
    const gone = Array.from({ length: 600 }, (_, index) => [`gone-${index}`, 1] as const);
    await storeLastUse(home.store, 'project_keys', [...gone, [key.id, 2_000]]);
    await storeLastUse(home.store, 'project_keys', new Map([[key.id, 1_000]]));
    await storeLastUse(home.store, 'project_keys', new Map());
    expect(await home.store.read((reader) => readKey(reader, key.id))).toMatchObject({ lastUsedAt: 2_000 });
    expect((await readLog(home.database, 0, 100)).length).toBe(head);
    const token = makeToken();
    await home.store.commit(ADA, (transaction) => insertAccessToken(transaction, token, 'digest'));
    await storeLastUse(home.store, 'access_tokens', new Map([[token.id, 3_000]]));
    expect(await home.store.read((reader) => readAccessTokens(reader))).toEqual([
      { ...token, lastUsedAt: 3_000 },
    ]);
  });

  test('a damaged list of environments or tags does not break the lists', async () => {
    await using home = await openTestStore(engine);
    const { project } = await seed(home.store);
    await home.store.commit(ADA, (transaction) => insertKey(transaction, makeKey(project), 'digest'));
    for (const damage of ['{', 'null', '[1]', '{"0":"production"}']) {
      await home.database.transaction(async (transaction) => {
        await transaction.query('UPDATE project_keys SET environments = $1', [damage]);
        await transaction.query('UPDATE flags SET tags = $1', [damage]);
      });
      await home.store.read(async (reader) => {
        expect(await readKeys(reader, project.id)).toMatchObject([{ environments: [] }]);
        expect(await readFlags(reader, project.id)).toMatchObject([{ tags: [] }]);
      });
    }
  });

  test('a commit whose answer was lost is a success when it is found in the log', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    const store = new SqlStore(losing(home.database, 'answer'));
    const committed = await store.commit(ADA, changing(environment, ['checkout', ON]));
    expect(committed).toEqual({ result: { revision: 1, changed: ['checkout'] }, seq: 3 });
    expect(await store.commit(ADA, (transaction) => storeFlag(transaction, makeFlag(project, 'x')))).toEqual({
      result: undefined,
      seq: 4,
    });
  });

  test('a commit whose request was lost is a failure, and nothing of it was stored', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    const store = new SqlStore(losing(home.database, 'request'));
    await expect(store.commit(ADA, changing(environment, ['checkout', ON]))).rejects.toThrow('rolled back');
    await expect(store.commit(ADA, (t) => storeFlag(t, makeFlag(project, 'x')))).rejects.toThrow(
      'rolled back',
    );
    expect(await home.store.read((reader) => readStoredStates(reader, environment.id))).toEqual([]);
    expect(await home.store.read((reader) => readFlag(reader, project.id, 'x'))).toBeUndefined();
  });

  test('audit entries name their operation; older ones are operations of their own', async () => {
    await using home = await openTestStore(engine);
    const { project } = await seed(home.store);
    const others = [makeEnvironment(project, 'one'), makeEnvironment(project, 'two')];
    const { seq } = await home.store.commit(ADA, async (transaction) => {
      for (const environment of others) await insertEnvironment(transaction, environment);
    });
    const last = async () => {
      const entries = await home.store.read((reader) => auditEntries(reader, { limit: 2 }));
      return entries.map(({ seq, operation }) => [seq, operation]);
    };
    const end = seq ?? 0;
    expect(await last()).toEqual([
      [end, end],
      [end - 1, end],
    ]);
    await home.database.transaction((transaction) =>
      transaction.query('UPDATE audit_log SET operation_seq = NULL'),
    );
    expect(await last()).toEqual([
      [end, end],
      [end - 1, end - 1],
    ]);
  });

  test('audit entries are paged by seq, without splitting a change', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store, ['a', 'b', 'c']);
    await home.store.commit(ADA, changing(environment, ['a', ON], ['b', ON], ['c', ON]));
    await home.store.commit({ name: 'system', permissions: ADA.permissions }, (t) =>
      insertProject(t, makeProject('other')),
    );
    const page = (beforeSeq?: number) =>
      home.store.read((reader) =>
        auditEntries(reader, {
          projectId: project.id,
          limit: 2,
          ...(beforeSeq === undefined ? {} : { beforeSeq }),
        }),
      );
    const first = await page();
    expect(first.map((entry) => [entry.seq, entry.target])).toEqual([
      [3, 'c'],
      [3, 'b'],
      [3, 'a'],
    ]);
    const second = await page(3);
    expect(second.map((entry) => entry.action)).toEqual([
      'flag.created',
      'flag.created',
      'flag.created',
      'environment.created',
    ]);
    expect((await page(2)).map((entry) => entry.action)).toEqual(['project.created']);
    const history = await home.store.read((reader) =>
      auditEntries(reader, { projectId: project.id, environmentId: environment.id, target: 'b', limit: 50 }),
    );
    expect(history.map((entry) => [entry.action, entry.after])).toEqual([['flag.changed', ON]]);
    const [latest] = await home.store.read((reader) => auditEntries(reader, { limit: 1 }));
    expect(latest).toMatchObject({ actor: 'system', action: 'project.created', target: 'other' });
    expect(latest).not.toHaveProperty('ip');
  });
});

/** The same database behind a connection that breaks during the COMMIT of a write, before or after it arrived. */
function losing(database: Database, lost: 'request' | 'answer'): Database {
  const broken = () =>
    new CommitUncertainError('the connection was lost during COMMIT', async () => 'aborted');
  return withTransactions(database, async (work) => {
    let isWrite = false;
    const result = await database.transaction(async (transaction) => {
      const done = await work({
        ...transaction,
        query: (text, parameters) => {
          isWrite ||= text.startsWith('INSERT');
          return transaction.query(text, parameters);
        },
      });
      if (isWrite && lost === 'request') throw broken();
      return done;
    });
    if (isWrite) throw broken();
    return result;
  });
}
