import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type PostgresServer, startPostgres, until, within } from '@halyard/testing';
import { StoreOutage } from '../../domain/errors.ts';
import { loadSnapshot } from '../change-log.ts';
import type { OpenDatabase } from '../database.ts';
import { PrimaryBeat } from '../primary-beat.ts';
import { migrate } from '../schema.ts';
import { SqlStore } from '../store.ts';
import { ADA, changing, readLog } from '../test-records.ts';
import { openPostgres } from './postgres.ts';
import { openHome } from './test-home.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';

interface Answer {
  readonly answer: boolean;
}

describe('a PostgreSQL server of its own', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });

  afterAll(() => server.close());

  test('a restart loses the log session and nothing else', async () => {
    await using home = await openHome(server);
    const session = await home.database.openLogSession();
    const lost = new Promise<Error>((resolve) => session.onLost(resolve));
    await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    await server.restart('fast');
    await within('the session is lost', lost);
    const { result } = await home.store.commit(ADA, changing(home.environment, ['checkout', OFF]));
    expect(result.revision).toBe(2);
    expect((await loadSnapshot(home.database)).cursor.seq).toBe(4);
  });

  test('no acknowledged write is lost when every process of the server is killed', async () => {
    await using home = await openHome(server);
    for (let round = 0; round < 2; round++) {
      const acknowledged: number[] = [];
      const enough = Promise.withResolvers<void>();
      let writing = true;
      const writer = (async () => {
        for (let turn = 0; writing; turn++) {
          const state = `{"enabled":true,"value":"${round}-${turn}"}`;
          try {
            const { result } = await home.store.commit(ADA, changing(home.environment, ['checkout', state]));
            acknowledged.push(result.revision);
          } catch {
            // Refused while the server is away; only what was acknowledged counts.
            await Bun.sleep(5);
          }
          if (acknowledged.length >= 30) enough.resolve();
        }
      })();
      await within('30 writes are acknowledged', enough.promise, 30_000);
      await server.kill9();
      await server.start();
      writing = false;
      await writer;
      const revisions = new Set((await readLog(home.direct, 2, 10_000)).map((row) => row.revision));
      expect(acknowledged.filter((revision) => !revisions.has(revision))).toEqual([]);
      expect([...revisions]).toEqual(Array.from({ length: revisions.size }, (_, index) => index + 1));
    }
  });

  test('migrates a database whose sessions are read-only by default', async () => {
    const url = await server.createDatabase();
    const name = new URL(url).pathname.slice(1);
    await server.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const database = await openPostgres({ url });
    await migrate(database);
    expect((await loadSnapshot(database)).cursor.seq).toBe(0);
    await database.close();
  });
});

describe('a PostgreSQL server with a standby', () => {
  let server: PostgresServer;
  let standby: PostgresServer;
  let marked: OpenDatabase;
  let beat: PrimaryBeat;

  beforeAll(async () => {
    server = await startPostgres();
    standby = await server.startStandby();
    marked = await openPostgres({ url: server.url() });
    beat = new PrimaryBeat(marked);
  });

  afterAll(async () => {
    beat.close();
    await marked.close();
    await standby.close();
    await server.close();
  });

  test('a node on a hot standby follows, reads and is refused to write', async () => {
    await using home = await openHome(server);
    const database = await openPostgres({ url: standby.url(new URL(home.url).pathname.slice(1)) });
    await standby.untilCaughtUpWith(server);
    await migrate(database);
    expect((await loadSnapshot(database)).cursor.seq).toBe(2);
    const session = await database.openLogSession();
    expect(await session.head()).toMatchObject({ seq: 2, pushed: false });
    await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    await until('the standby has the change', async () => (await session.head()).seq >= 3);
    expect((await readLog(session, 2, 10)).map((row) => row.seq)).toEqual([3]);
    const write = new SqlStore(database).commit(ADA, changing(home.environment, ['checkout', OFF]));
    await expect(write).rejects.toThrow(/read-write mode during recovery/);
    await expect(write).rejects.toBeInstanceOf(StoreOutage);
    const single = database.query('DELETE FROM delivery_receipts');
    await expect(single).rejects.toBeInstanceOf(StoreOutage);
    await database.close();
  });

  test('a new session with a standby does not take what it shows for current before it shows something new', async () => {
    await using home = await openHome(server);
    const database = await openPostgres({ url: standby.url(new URL(home.url).pathname.slice(1)) });
    await standby.untilCaughtUpWith(server);
    await standby.query('SELECT pg_wal_replay_pause()');
    await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    const isBehind = 'SELECT pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn() AS answer';
    await until('it has received the change', async () => (await standby.query<Answer>(isBehind))[0]?.answer);
    const session = await database.openLogSession();
    const head = session.head();
    // Answered after the first question of the heartbeat.
    await session.query('SELECT 1');
    await standby.query('SELECT pg_wal_replay_resume()');
    expect(await head).toMatchObject({ seq: 3, isCopy: true });
    await database.close();
  });

  test('a standby with an old schema is refused until its primary has been migrated', async () => {
    const url = await server.createDatabase();
    const database = await openPostgres({ url: standby.url(new URL(url).pathname.slice(1)) });
    await standby.untilCaughtUpWith(server);
    await expect(migrate(database)).rejects.toThrow(
      /schema version 0, this program needs \d+, .* start a node of this version on the primary/,
    );
    await expect(migrate(database)).rejects.toBeInstanceOf(StoreOutage);
    const primary = await openPostgres({ url });
    await migrate(primary);
    await standby.untilCaughtUpWith(server);
    expect(await migrate(database)).toBeUndefined();
    await Promise.all([database.close(), primary.close()]);
  });

  test('an address of two servers leads to the primary through a failover, and sessions notice it', async () => {
    await using home = await openHome(server);
    const address = new URL(home.url);
    const hosts = [standby, server].map(({ port }) => `127.0.0.1:${port}`).join(',');
    const both = (target: string) =>
      openPostgres({
        url: `${home.url.replace(address.host, hosts)}?target_session_attrs=${target}`,
      });
    const [writing, reading] = await Promise.all([both('read-write'), both('standby')]);
    const store = new SqlStore(writing);
    await store.commit(ADA, changing(home.environment, ['checkout', ON]));
    await standby.untilCaughtUpWith(server);
    const isStandby = 'SELECT pg_is_in_recovery() AS answer';
    expect(await reading.query(isStandby)).toEqual([{ answer: true }]);
    const session = await writing.openLogSession();
    expect(await session.head()).toMatchObject({ seq: 3, pushed: true });
    const [cutOff, promoted] = await Promise.all([reading.openLogSession(), reading.openLogSession()]);
    for (const copy of [cutOff, promoted])
      expect(await copy.head()).toMatchObject({ seq: 3, pushed: false, isCopy: true });
    await server.stop('immediate');
    await expect(writing.query('SELECT 1')).rejects.toBeInstanceOf(StoreOutage);
    await until('the standby is cut off', () => isRejected(cutOff.head()));
    await expect(cutOff.head()).rejects.toThrow('not connected to its primary');
    await standby.promote();
    await promoted.head();
    expect(await promoted.head()).toMatchObject({ seq: 3, pushed: true });
    await store.commit(ADA, changing(home.environment, ['checkout', OFF]));
    expect(await (await writing.openLogSession()).head()).toMatchObject({ seq: 4, pushed: true });
    await Promise.all([writing.close(), reading.close()]);
  });
});

function isRejected(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  );
}
