import { expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { sharedPostgres, startTcpProxy, temporaryFolder } from '@halyard/testing';
import { StorageError } from '../domain/errors.ts';
import { DatabaseOpener, storeOf } from './database-opener.ts';
import { type Migrated, SCHEMA_VERSION } from './schema.ts';

setDefaultTimeout(60_000);

test('callers share one database, which is opened when it is needed, has its schema, and closes twice', async () => {
  using folder = temporaryFolder();
  const migrated: Migrated[] = [];
  const onMigrated = (one: Migrated) => migrated.push(one);
  const opener = new DatabaseOpener({ data: folder.path, databasePoolSize: 1, onMigrated });
  const [first, second] = await Promise.all([opener.get(), opener.get()]);
  expect(second).toBe(first);
  expect(first.database.engine).toBe('sqlite');
  expect(migrated).toEqual([{ from: 0, to: SCHEMA_VERSION }]);
  expect(await storeOf(opener).read((reader) => reader.project('shop'))).toBeUndefined();
  await opener.close();
  await opener.close();
  await expect(first.database.query('SELECT 1')).rejects.toThrow();
});

test('what was never opened can be closed, and creates nothing', async () => {
  using folder = temporaryFolder();
  await new DatabaseOpener({ data: folder.path, databasePoolSize: 1 }).close();
  expect([...new Bun.Glob('**').scanSync(folder.path)]).toEqual([]);
});

test('a database that is not there yet fails each use, and is opened once it is there', async () => {
  using folder = temporaryFolder();
  const url = new URL(await (await sharedPostgres()).createDatabase());
  const proxy = await startTcpProxy({ port: Number(url.port) });
  url.port = String(proxy.port);
  const opener = new DatabaseOpener({ data: folder.path, databaseUrl: url.href, databasePoolSize: 2 });
  const store = storeOf(opener);
  try {
    proxy.refuse();
    for (let use = 0; use < 2; use++) await expect(store.read(async () => 'read')).rejects.toThrow();
    proxy.restore();
    expect(await store.read(async () => 'read')).toBe('read');
    expect((await opener.get()).database.engine).toBe('postgres');
  } finally {
    await opener.close();
    await proxy.close();
  }
});

test('what no retry will mend is told from what one may', async () => {
  using folder = temporaryFolder();
  writeFileSync(folder.file('halyard.db'), 'this is a letter and no database, '.repeat(100));
  const opener = new DatabaseOpener({ data: folder.path, databasePoolSize: 1 });
  await expect(opener.get()).rejects.toThrow(StorageError);
  await opener.close();
});
