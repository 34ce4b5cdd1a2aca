import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sharedPostgres } from '@halyard/testing';
import pg from 'pg';
import { StorageError } from '../../domain/errors.ts';
import { ADA, changing } from '../test-records.ts';
import { openPostgres } from './postgres.ts';
import { checkServer, ServerList } from './postgres-client.ts';
import { openHome } from './test-home.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';

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
    await using home = await openHome();
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
    const pool = new pg.Pool({ ...config, max: 1 });
    const taken = await pool.connect();
    // The first connection may take longer on a busy machine.
    pool.options.connectionTimeoutMillis = 100;
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
