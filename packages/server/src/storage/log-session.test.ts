import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { within } from '@halyard/testing';
import { changeStates } from '../nouns/states/change-states.ts';
import { SqlStore } from './store.ts';
import { ENGINES, openTestStore, type TestEngine } from './test-engines.ts';
import { ADA, changing, readLog, seed } from './test-records.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';

describe.each(ENGINES)('the log session on $name', (engine: TestEngine) => {
  test('a commit of this node wakes it, and the new row can be read', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const session = await home.database.openLogSession();
    const woken = nextWake(session);
    const { seq } = await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await woken;
    expect(await session.head()).toMatchObject({ seq, pushed: true });
    expect((await readLog(session, 2, 10)).map((row) => row.seq)).toEqual([3]);
  });

  test('a commit of another node wakes it', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const session = await home.database.openLogSession();
    const woken = nextWake(session);
    await new SqlStore(await home.connect()).commit(ADA, changing(environment, ['checkout', ON]));
    await woken;
    expect((await session.head()).seq).toBe(3);
  });

  test('wakes every session of a node', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const sessions = await Promise.all([home.database.openLogSession(), home.database.openLogSession()]);
    const woken = Promise.all(sessions.map(nextWake));
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await woken;
  });

  test('an uncommitted write is not visible and wakes no follower', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const session = await home.database.openLogSession();
    let wakes = 0;
    session.onWake(() => {
      wakes += 1;
    });
    const attempt = home.store.commit(ADA, async (transaction) => {
      await changeStates(transaction, environment, [['checkout', ON]]);
      expect((await session.head()).seq).toBe(2);
      throw new Error('on purpose');
    });
    await expect(attempt).rejects.toThrow('on purpose');
    expect((await session.head()).seq).toBe(2);
    expect(wakes).toBe(0);
    await home.store.commit(ADA, changing(environment, ['checkout', OFF]));
    expect((await session.head()).seq).toBe(3);
  });

  test('the head has the epoch of the snapshot', async () => {
    await using home = await openTestStore(engine);
    const session = await home.database.openLogSession();
    const [row] = await home.database.query<{ epoch: string }>('SELECT epoch FROM feed');
    expect(await session.head()).toEqual({ epoch: row?.epoch ?? '', seq: 0, pushed: true });
  });

  test('a closed session is silent, rejects queries and can be closed again; closing is not a loss', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const session = await home.database.openLogSession();
    const heard: string[] = [];
    session.onWake(() => heard.push('wake'));
    session.onLost(() => heard.push('lost'));
    session.close();
    session.close();
    await expect(session.head()).rejects.toThrow('has ended');
    const other = await home.database.openLogSession();
    const woken = nextWake(other);
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await woken;
    expect(heard).toEqual([]);
  });

  test('closing the database ends its sessions and rejects new ones, also the second time', async () => {
    await using home = await openTestStore(engine);
    const session = await home.database.openLogSession();
    await home.database.close();
    await home.database.close();
    await expect(session.head()).rejects.toThrow();
    await expect(home.database.openLogSession()).rejects.toThrow('closed');
    await expect(home.database.query('SELECT 1')).rejects.toThrow();
  });

  test('a failing read is a loss, reported once, also to a late callback', async () => {
    await using home = await openTestStore(engine);
    const session = await home.database.openLogSession();
    const causes: Error[] = [];
    session.onLost((cause) => causes.push(cause));
    await expect(session.query('SELECT * FROM no_such_table')).rejects.toThrow('no_such_table');
    await expect(session.head()).rejects.toThrow();
    expect(causes.map((cause) => cause.message)).toEqual([expect.stringContaining('no_such_table')]);
    session.onLost((cause) => causes.push(cause));
    expect(causes[1]).toBe(causes[0] ?? new Error('none'));
  });
});

function nextWake(session: { onWake(callback: () => void): void }): Promise<void> {
  return within('the session is woken', new Promise((resolve) => session.onWake(resolve)));
}
