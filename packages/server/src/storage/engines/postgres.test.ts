import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type PostgresServer,
  sharedPostgres,
  startPostgres,
  startTcpProxy,
  until,
  within,
} from '@halyard/testing';
import pg from 'pg';
import { StorageError, StoreBusy, StoreOutage } from '../../domain/errors.ts';
import { loadSnapshot, logSourceOf } from '../change-log.ts';
import { CommitUncertainError, type Database } from '../database.ts';
import { migrate } from '../schema.ts';
import { SqlStore } from '../store.ts';
import { ADA, changing, makeEnvironment, makeFlag, readLog, seed } from '../test-records.ts';
import { openPostgres } from './postgres.ts';
import { checkServer, ServerList } from './postgres-client.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';

interface Answer {
  readonly answer: boolean;
}

/** A fresh database of the server with a project in it, reached through a proxy that can fail. */
async function openHome(server: PostgresServer) {
  const url = await server.createDatabase();
  const proxy = await startTcpProxy({ port: server.port });
  const proxied = new URL(url);
  proxied.port = String(proxy.port);
  const direct = await openPostgres({ url });
  await migrate(direct);
  const seeded = await seed(new SqlStore(direct));
  const database = await openPostgres({ url: proxied.href, poolSize: 3 });
  const close = async () => {
    await Promise.all([database.close(), direct.close()]);
    await proxy.close();
  };
  return {
    url,
    proxy,
    direct,
    database,
    store: new SqlStore(database),
    ...seeded,
    [Symbol.asyncDispose]: close,
  };
}

describe('connecting to PostgreSQL', () => {
  test('an invalid URL is refused without showing its contents', async () => {
    for (const url of ['', 'localhost:5432', 'mysql://ada:geheim@db/halyard', 'postgres://ada:geheim@:x/']) {
      const attempt = openPostgres({ url });
      await expect(attempt).rejects.toBeInstanceOf(StorageError);
      await expect(attempt).rejects.not.toThrow('geheim');
    }
  });

  test('a server before version 15 is refused by name', async () => {
    // Of a client only `query` is used here, and no old server is at hand.
    const old = {
      query: async () => ({ rows: [{ number: 140_011, name: '14.11' }] }),
    } as unknown as pg.Client;
    await expect(checkServer(old, 'any')).rejects.toThrow(/PostgreSQL 14\.11.*15 or later/);
  });

  test('sslmode is understood as libpq does: disable connects, require is refused by a server without TLS', async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const plain = await openPostgres({ url: `${url}?sslmode=disable` });
    expect(await plain.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await plain.close();
    const encrypted = await openPostgres({ url: `${url}?sslmode=require` });
    const attempt = encrypted.query('SELECT 1');
    await expect(attempt).rejects.toBeInstanceOf(StorageError);
    await expect(attempt).rejects.toThrow(/does not support SSL.*Switch TLS on at the server/);
    await encrypted.close();
  });

  test('a server that is away rejects every use, and is used once it is there', async () => {
    await using home = await openHome(await sharedPostgres());
    home.proxy.refuse();
    await expect(home.database.query('SELECT 1')).rejects.toThrow();
    await expect(home.database.openLogSession()).rejects.toThrow();
    await expect(home.store.commit(ADA, changing(home.environment, ['checkout', ON]))).rejects.toThrow();
    home.proxy.restore();
    const { result } = await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(result.revision).toBe(1);
  });
});

describe('the servers of an address', () => {
  test('are not changed because every connection to the one in use is taken', async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const { host } = new URL(url);
    const servers = new ServerList(url.replace(host, `${host},127.0.0.1:1`));
    const { config } = servers;
    const pool = new pg.Pool({ ...config, max: 1, connectionTimeoutMillis: 100 });
    const taken = await pool.connect();
    let attempts = 0;
    const connecting = servers.connect(() => {
      attempts += 1;
      return pool.connect();
    });
    await expect(connecting).rejects.toThrow('every connection to the database is in use');
    expect([attempts, servers.config]).toEqual([1, config]);
    taken.release();
    await pool.end();
  });
});

describe('a transaction on PostgreSQL', () => {
  test('its settings keep a frozen node from holding the end of the log, and end with it', async () => {
    const server = await sharedPostgres();
    await using home = await openHome(server);
    const name = new URL(home.url).pathname.slice(1);
    await server.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    const database = await openPostgres({ url: home.url, poolSize: 1 });
    const names = [
      'lock_timeout',
      'idle_in_transaction_session_timeout',
      'statement_timeout',
      'synchronous_commit',
    ];
    const settings = `SELECT ${names.map((setting) => `current_setting('${setting}') AS ${setting}`).join(', ')}`;
    expect(await database.transaction((transaction) => transaction.query(settings))).toEqual([
      {
        lock_timeout: '3s',
        idle_in_transaction_session_timeout: '5s',
        statement_timeout: '10s',
        synchronous_commit: 'on',
      },
    ]);
    expect(await database.query(settings)).toEqual([
      {
        lock_timeout: '0',
        idle_in_transaction_session_timeout: '0',
        statement_timeout: '0',
        synchronous_commit: 'off',
      },
    ]);
    await database.close();
  });

  test('two writers in a deadlock both succeed: one runs again', async () => {
    await using home = await openHome(await sharedPostgres());
    const other = makeEnvironment(home.project, 'other');
    await home.store.commit(ADA, (transaction) => transaction.insertEnvironment(other));
    let runs = 0;
    let locks = 0;
    const both = Promise.withResolvers<void>();
    const lockInOrder = (first: string, second: string) =>
      home.store.commit(ADA, async (transaction) => {
        runs += 1;
        await transaction.lockEnvironment(first);
        locks += 1;
        if (locks === 2) both.resolve();
        await within('both hold a lock', both.promise);
        await transaction.lockEnvironment(second);
      });
    const { id } = home.environment;
    await Promise.all([lockInOrder(id, other.id), lockInOrder(other.id, id)]);
    // On a busy machine the one that runs again may be first to lock once more.
    expect(runs).toBeGreaterThan(2);
  });

  test('a writer that waits too long for another fails as busy and writes nothing', async () => {
    await using home = await openHome(await sharedPostgres());
    const { promise: isWaiting, resolve: wait } = Promise.withResolvers<void>();
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const holder = home.store.commit(ADA, async (transaction) => {
      await transaction.lockEnvironment(home.environment.id);
      wait();
      await isOver;
    });
    await within('the holder has the lock', isWaiting);
    await expect(home.store.commit(ADA, changing(home.environment, ['checkout', ON]))).rejects.toThrow(
      StoreBusy,
    );
    end();
    await holder;
    const { result } = await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(result.revision).toBe(1);
  });

  test('work that conflicts with the deletion of a flag runs again without the flag', async () => {
    await using home = await openHome(await sharedPostgres());
    const { environment, project } = home;
    let runs = 0;
    const outcome = home.store.commit(ADA, async (transaction) => {
      runs += 1;
      const flag = await transaction.flag(project.id, 'checkout');
      if (flag === undefined) return 'gone';
      if (runs === 1) await new SqlStore(home.direct).commit(ADA, (other) => other.deleteFlag(flag));
      await transaction.changeStates(environment, [['checkout', ON]]);
      return 'changed';
    });
    expect((await outcome).result).toBe('gone');
    expect(runs).toBe(2);
  });

  test('work that conflicts with the creation of a flag runs again and does not overwrite it', async () => {
    await using home = await openHome(await sharedPostgres());
    const described = { ...makeFlag(home.project, 'theme'), description: 'Colours' };
    const found: (string | undefined)[] = [];
    let second: Promise<unknown> = Promise.resolve();
    await new SqlStore(home.direct).commit(ADA, async (transaction) => {
      await transaction.putFlag(described);
      second = home.store.commit(ADA, async (other) => {
        const flag = await other.flag(home.project.id, 'theme');
        found.push(flag?.description);
        if (flag === undefined) await other.putFlag(makeFlag(home.project, 'theme'));
      });
      const waiting = `SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await until('a writer waits for a lock', async () => (await home.direct.query(waiting)).length > 0);
    });
    await second;
    expect(found).toEqual([undefined, 'Colours']);
    expect(await home.store.read((reader) => reader.flag(home.project.id, 'theme'))).toEqual(described);
  });

  test('a killed connection fails only its current use', async () => {
    await using home = await openHome(await sharedPostgres());
    const killed = home.database.transaction(async (transaction) => {
      await transaction.query('SELECT pg_terminate_backend(pg_backend_pid())');
    });
    await expect(killed).rejects.toThrow();
    const { result } = await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(result.revision).toBe(1);
  });

  test('an idle connection that went silent fails its next use within seconds, even a long read', async () => {
    await using home = await openHome(await sharedPostgres());
    await home.database.query('SELECT 1');
    home.proxy.blackhole();
    const begun = performance.now();
    await expect(loadSnapshot(home.database)).rejects.toBeInstanceOf(StoreOutage);
    // The time-out is five seconds; listeners give a silent request ten.
    expect(performance.now() - begun).toBeLessThan(9_000);
    home.proxy.restore();
    expect((await loadSnapshot(home.database)).cursor.seq).toBe(2);
  });

  test('a COMMIT whose answer is lost is uncertain, and the store finds that it was committed', async () => {
    await using home = await openHome(await sharedPostgres());
    const cutting = () => afterWork(home.database, () => home.proxy.cutOn(['COMMIT'], 'after'));
    await expect(
      cutting().transaction((transaction) => transaction.query('SELECT 1')),
    ).rejects.toBeInstanceOf(CommitUncertainError);
    const store = new SqlStore(cutting());
    const committed = await store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(committed).toEqual({ result: { revision: 1, changed: ['checkout'] }, seq: 3 });
    expect((await readLog(home.direct, 2, 10)).length).toBe(1);
  });

  test.each(['before', 'after'] as const)(
    'writers of a group whose connection breaks %s COMMIT all learn what became of them',
    async (when) => {
      await using home = await openHome(await sharedPostgres());
      const writeAll = (values: readonly number[]) =>
        Promise.allSettled(
          values.map((value) =>
            home.store.writeState({
              ...{ actor: ADA, project: 'demo', environment: 'production', key: `flag-${value}` },
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
    await using home = await openHome(await sharedPostgres());
    let attempts = 0;
    const transaction: Database['transaction'] = async (work) => {
      const isFirstLookUp = ++attempts === 2;
      // The server still waits for the bytes when the outcome is looked up for the first time.
      return home.database.transaction(work).finally(() => isFirstLookUp && home.proxy.restore());
    };
    const store = new SqlStore({ ...afterWork(home.database, () => {}), transaction });
    home.proxy.cutOn(['pg_notify'], 'ahead');
    const written = await store.writeState({
      ...{ actor: ADA, project: 'demo', environment: 'production', key: 'checkout' },
      next: () => ON,
    });
    expect(written).toMatchObject({ seq: 3, result: { changed: true } });
    expect(attempts).toBeGreaterThan(2);
    expect(await readLog(home.direct, 2, 10)).toMatchObject([{ seq: 3, revision: 1 }]);
  });

  test('groups of two environments that bring the same new flags do not deadlock', async () => {
    await using home = await openHome(await sharedPostgres());
    await home.store.commit(ADA, (transaction) =>
      transaction.insertEnvironment(makeEnvironment(home.project, 'other')),
    );
    const writeAll = (environment: string, keys: readonly string[]) =>
      keys.map((key) =>
        home.store.writeState({ actor: ADA, project: 'demo', environment, key, next: () => ON }),
      );
    let writes: Promise<unknown>[] = [];
    let blockers: unknown[] = [];
    const held = new SqlStore(home.direct).commit(ADA, async (transaction) => {
      await transaction.insertFlags([makeFlag(home.project, 'held')]);
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

  test('a lock on one environment does not hold up the writers of another one', async () => {
    await using home = await openHome(await sharedPostgres());
    const other = makeEnvironment(home.project, 'other');
    await home.store.commit(ADA, (transaction) => transaction.insertEnvironment(other));
    const writeIn = (environment: string) =>
      home.store.writeState({
        ...{ actor: ADA, project: 'demo', environment, key: 'checkout' },
        next: () => ON,
      });
    let waiting: Promise<unknown> = Promise.resolve();
    // As a large import does.
    await new SqlStore(home.direct).commit(ADA, async (transaction) => {
      await transaction.lockEnvironment(home.environment.id);
      waiting = writeIn('production');
      expect(await within('the other writer', writeIn('other'))).toMatchObject({ seq: 4 });
    });
    expect(await waiting).toMatchObject({ seq: 5, result: { environmentRevision: 1 } });
  });

  test('no epoch begins when the commit that it waited for brings the missing row', async () => {
    await using home = await openHome(await sharedPostgres());
    const { cursor } = await loadSnapshot(home.direct);
    const begun = await home.direct.transaction(async (transaction) => {
      await transaction.query('UPDATE environments SET revision = revision + 1');
      await transaction.query('UPDATE feed SET seq = seq + 1');
      const columns = `change_id, kind, project_id, payload, at, actor FROM change_log WHERE seq = ${cursor.seq}`;
      await transaction.query(`INSERT INTO change_log (seq, change_id, kind, project_id, payload, at, actor)
        SELECT seq + 1, 'shown by a standby' || ${columns}`);
      const source = logSourceOf(home.database);
      const lost = { ...cursor, seq: cursor.seq + 1, changeId: `shown by a standby${cursor.changeId}` };
      const attempt = source.beginEpochAfter?.(lost).catch((error: unknown) => error);
      await until('it waits for this transaction', async () => {
        const text = `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND datname = current_database()) AS answer`;
        return (await home.direct.query<Answer>(text))[0]?.answer;
      });
      return { attempt };
    });
    expect(await begun.attempt).toBeInstanceOf(StoreOutage);
    const after = await loadSnapshot(home.direct);
    expect(after.cursor).toMatchObject({ epoch: cursor.epoch, seq: cursor.seq + 1 });
    expect(after.environments).toMatchObject([{ revision: 1 }]);
  });

  test('statements are prepared once for each connection, and no more once a pooler has mixed them up', async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const database = await openPostgres({ url, poolSize: 1 });
    await migrate(database);
    const store = new SqlStore(database);
    await seed(store);
    const write = (value: number) =>
      store.writeState({
        ...{ actor: ADA, project: 'demo', environment: 'production', key: 'checkout' },
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
      transaction.batch([{ text: 'SELECT 1 AS one' }, { text: 'SELECT 1 / 0' }, { text: 'SELECT 2 AS two' }]),
    );
    await expect(broken).rejects.toThrow('division by zero');
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

  test('of a batch in which a statement fails, nothing is kept, and what follows it does not run', async () => {
    await using home = await openHome(await sharedPostgres());
    const raise = {
      text: 'UPDATE environments SET revision = 7 WHERE id = $1',
      parameters: [home.environment.id],
    };
    const batches = [
      [raise, { text: 'SELECT 1 / 0' }],
      [{ text: 'SELECT 1 / 0' }, raise, { text: 'COMMIT' }],
      [{ text: 'NONSENSE' }, raise],
    ];
    for (const batch of batches)
      await expect(home.database.transaction((transaction) => transaction.batch(batch))).rejects.toThrow();
    const atCommit = home.database.transaction(async (transaction) => {
      transaction.atCommit(raise);
      transaction.atCommit({ text: 'SELECT 1 / 0' });
    });
    await expect(atCommit).rejects.toThrow('division by zero');
    expect(await home.store.read((reader) => reader.environments(home.project.id))).toEqual([
      home.environment,
    ]);
  });

  test('a COMMIT that never arrives is uncertain, and the store finds that it was not committed', async () => {
    await using home = await openHome(await sharedPostgres());
    const cutting = afterWork(home.database, () => home.proxy.reset());
    const attempt = new SqlStore(cutting).commit(ADA, changing(home.environment, ['checkout', ON]));
    await expect(attempt).rejects.toThrow('rolled back');
    expect(await readLog(home.direct, 2, 10)).toEqual([]);
  });
});

describe('the log session on PostgreSQL', () => {
  test('a terminated session is lost at once and reported once, and a new one works', async () => {
    const server = await sharedPostgres();
    await using home = await openHome(server);
    const session = await home.database.openLogSession();
    const causes: Error[] = [];
    const lost = new Promise<void>((resolve) => {
      session.onLost((cause) => {
        causes.push(cause);
        resolve();
      });
    });
    await home.direct.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query = 'LISTEN halyard_feed'`,
    );
    await within('the session is lost', lost);
    await expect(session.head()).rejects.toThrow();
    session.close();
    expect(causes.length).toBe(1);
    expect((await (await home.database.openLogSession()).head()).seq).toBe(2);
  });

  test('a session that went silent is lost with the next heartbeat', async () => {
    await using home = await openHome(await sharedPostgres());
    const session = await home.database.openLogSession();
    let losses = 0;
    session.onLost(() => {
      losses += 1;
    });
    home.proxy.blackhole();
    const beats = await Promise.allSettled([session.head(), readLog(session, 0, 10)]);
    expect(beats.map((beat) => beat.status)).toEqual(['rejected', 'rejected']);
    expect(losses).toBe(1);
    home.proxy.restore();
  });

  test('reads rows of many megabytes over a slow link, however long that takes', async () => {
    await using home = await openHome(await sharedPostgres());
    const direct = new SqlStore(home.direct);
    // Together, and the last one alone, more than the link carries in the time of a heartbeat.
    for (const [letter, megabytes] of Object.entries({ a: 3, b: 3, c: 3, d: 10 })) {
      const state = `{"enabled":true,"value":"${letter.repeat(megabytes * 1_000_000)}"}`;
      await direct.commit(ADA, changing(home.environment, ['checkout', state]));
    }
    home.proxy.throttle(4_000_000);
    const session = await logSourceOf(home.database).open();
    const seqs: number[] = [];
    for (let isLast = false; !isLast; ) {
      const page = await session.read(2 + seqs.length);
      seqs.push(...page.rows.map(({ seq }) => seq));
      isLast = page.isLast;
    }
    expect(seqs).toEqual([3, 4, 5, 6]);
    expect(await session.head()).toMatchObject({ seq: 6 });
  });

  test('an answer that stops in the middle is a lost session', async () => {
    await using home = await openHome(await sharedPostgres());
    const state = `{"enabled":true,"value":"${'x'.repeat(6_000_000)}"}`;
    await new SqlStore(home.direct).commit(ADA, changing(home.environment, ['checkout', state]));
    const session = await home.database.openLogSession();
    const lost = new Promise<Error>((resolve) => session.onLost(resolve));
    home.proxy.throttle(4_000_000);
    const before = home.proxy.passedBytes;
    const reading = readLog(session, 2, 10).catch((error: unknown) => error);
    await until('a megabyte is on its way', () => home.proxy.passedBytes >= before + 1_000_000);
    home.proxy.blackhole();
    expect(await reading).toBeInstanceOf(StoreOutage);
    expect((await within('the session is lost', lost)).message).toContain('sent nothing');
  });

  test('a session that lost its channel reports that nothing is pushed', async () => {
    await using home = await openHome(await sharedPostgres());
    const session = await home.database.openLogSession();
    expect(await session.head()).toMatchObject({ pushed: true });
    await session.query('UNLISTEN *');
    expect(await session.head()).toMatchObject({ pushed: false });
  });

  test('a session that keeps its channel but hears nothing, as behind a pooler, reports that until it hears again', async () => {
    await using home = await openHome(await sharedPostgres());
    const session = await home.database.openLogSession();
    expect(await session.head()).toMatchObject({ seq: 2, pushed: true });
    await home.direct.query('UPDATE feed SET seq = seq + 1');
    await session.head();
    expect(await session.head()).toMatchObject({ seq: 3, pushed: false });
    const woken = new Promise<void>((resolve) => session.onWake(() => resolve()));
    await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    await within('the session is woken', woken);
    expect(await session.head()).toMatchObject({ seq: 4, pushed: true });
  });
});

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

  beforeAll(async () => {
    server = await startPostgres();
    standby = await server.startStandby();
  });

  afterAll(async () => {
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

  test('a new session with a standby does not take what it shows for current before it shows what it has', async () => {
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

/** The same database, with a fault that strikes when the work of the next write is done and COMMIT is to be sent. */
function afterWork(database: Database, strike: () => void): Database {
  let isArmed = true;
  return {
    query: (text, parameters) => database.query(text, parameters),
    snapshot: (work) => database.snapshot(work),
    yieldTo: (work) => database.yieldTo(work),
    openLogSession: () => database.openLogSession(),
    announce: (committed) => database.announce(committed),
    close: () => database.close(),
    transaction: (work) =>
      database.transaction(async (transaction) => {
        const result = await work(transaction);
        if (isArmed) strike();
        isArmed = false;
        return result;
      }),
  };
}
