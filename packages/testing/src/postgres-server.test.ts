import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { isAlive } from './processes.ts';
import { until } from './waiting.ts';

setDefaultTimeout(60_000);

const PIDS = 'SELECT pid FROM pg_stat_activity UNION SELECT pg_backend_pid()';

/** Asks as pg_ctl would: the first line of the server's pid file. */
async function processesOf(server: PostgresServer): Promise<{ home: string; pids: number[] }> {
  const [row] = await server.query<{ data: string }>(`SELECT current_setting('data_directory') AS data`);
  const data = row?.data ?? '';
  const [main = ''] = (await Bun.file(join(data, 'postmaster.pid')).text()).split('\n');
  const others = await server.query<{ pid: number }>(PIDS);
  return { home: join(data, '..'), pids: [Number(main), ...others.map((other) => other.pid)] };
}

describe('a PostgreSQL for tests', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });

  afterAll(() => server.close());

  test('is PostgreSQL 18, flushes commits to disk, and needs its password on loopback', async () => {
    const [settings] = await server.query(
      `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
        current_setting('listen_addresses') AS addresses`,
    );
    expect(settings).toMatchObject({
      version: expect.stringMatching(/^18\./),
      fsync: 'on',
      addresses: '127.0.0.1',
    });
    const wrong = new URL(server.url());
    wrong.password = 'guess';
    await expect(server.query('SELECT 1', wrong.href)).rejects.toThrow(/password/);
  });

  test('databases are empty and separate', async () => {
    const [a, b] = [await server.createDatabase(), await server.createDatabase()];
    await server.query('CREATE TABLE t (x int)', a);
    await expect(server.query('SELECT * FROM t', b)).rejects.toThrow(/does not exist/);
  });

  test('keeps data and address across stop, restart and kill9', async () => {
    const url = await server.createDatabase();
    await server.query('CREATE TABLE t AS SELECT 1 AS x', url);
    await server.stop('fast');
    await server.stop('fast');
    await expect(server.query('SELECT 1')).rejects.toThrow();
    await server.start();
    await server.restart('immediate');
    const { pids } = await processesOf(server);
    await server.kill9();
    expect(pids.filter(isAlive)).toEqual([]);
    await server.start();
    expect(await server.query('SELECT x FROM t', url)).toEqual([{ x: 1 }]);
  });

  test('a standby follows its primary read-only until it is promoted', async () => {
    await using standby = await server.startStandby();
    const url = await server.createDatabase();
    await server.query('CREATE TABLE t AS SELECT 7 AS x', url);
    const name = new URL(url).pathname.slice(1);
    await standby.untilCaughtUpWith(server);
    expect(await standby.query('SELECT x FROM t', standby.url(name))).toEqual([{ x: 7 }]);
    await expect(standby.query('CREATE TABLE u (x int)', standby.url(name))).rejects.toThrow(/read-only/);
    await standby.promote();
    await standby.query('CREATE TABLE u (x int)', standby.url(name));
  });
});

test('closing a server ends its processes and removes its folder, also the second time', async () => {
  const server = await startPostgres({ flush: 'none', settings: { max_connections: '12' } });
  const [row] = await server.query(
    `SELECT current_setting('fsync') AS fsync, current_setting('max_connections') AS connections`,
  );
  expect(row).toEqual({ fsync: 'off', connections: '12' });
  const { home, pids } = await processesOf(server);
  await server.close();
  await server.close();
  expect(pids.filter(isAlive)).toEqual([]);
  expect(existsSync(home)).toBe(false);
});

test('a server ends with the process that started it, however that ends', async () => {
  const script = `
    const { startPostgres } = await import(${JSON.stringify(join(import.meta.dir, 'postgres-server.ts'))});
    const server = await startPostgres({ flush: 'none' });
    const [row] = await server.query("SELECT current_setting('data_directory') AS data");
    console.log(row.data);
    await new Promise(() => setInterval(() => {}, 1000));`;
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' });
  let data = '';
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    data += piece;
    if (data.includes('\n')) break;
  }
  data = data.trim();
  const [pid] = (await Bun.file(join(data, 'postmaster.pid')).text()).split('\n');
  expect(isAlive(Number(pid))).toBe(true);
  child.kill('SIGKILL');
  await child.exited;
  await until('the server and its folder are gone', () => !isAlive(Number(pid)) && !existsSync(data));
});
