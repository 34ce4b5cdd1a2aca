import { expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { sharedPostgres, startTcpProxy, temporaryFolder } from '@halyard/testing';
import { StorageError } from '../domain/errors.ts';
import { type EngineOptions, type Migrated, openDatabase, SCHEMA_VERSION } from './schema.ts';
import { LazyDatabase } from './store.ts';

setDefaultTimeout(60_000);

const lazily = (options: EngineOptions) => new LazyDatabase(() => openDatabase(options));

test('callers share one database, which is opened on first use, has its schema, and can be closed twice', async () => {
  using folder = temporaryFolder();
  const migrated: Migrated[] = [];
  const onMigrated = (one: Migrated) => migrated.push(one);
  const database = lazily({ data: folder.path, databasePoolSize: 1, onMigrated });
  const versions = 'SELECT max(version) AS version FROM halyard_schema';
  const uses = [database.query(versions), database.query(versions)];
  expect(await Promise.all(uses)).toEqual(uses.map(() => [{ version: SCHEMA_VERSION }]));
  expect([...new Bun.Glob('halyard.db').scanSync(folder.path)]).toEqual(['halyard.db']);
  expect(migrated).toEqual([{ from: 0, to: SCHEMA_VERSION }]);
  await database.close();
  await database.close();
  await expect(database.query('SELECT 1')).rejects.toThrow();
});

test('a database that was never opened can be closed, and creates nothing', async () => {
  using folder = temporaryFolder();
  await lazily({ data: folder.path, databasePoolSize: 1 }).close();
  expect([...new Bun.Glob('**').scanSync(folder.path)]).toEqual([]);
});

test('an unreachable database fails each use, and is opened once it is reachable', async () => {
  using folder = temporaryFolder();
  const url = new URL(await (await sharedPostgres()).createDatabase());
  const proxy = await startTcpProxy({ port: Number(url.port) });
  url.port = String(proxy.port);
  const database = lazily({ data: folder.path, databaseUrl: url.href, databasePoolSize: 2 });
  try {
    proxy.refuse();
    for (let use = 0; use < 2; use++) await expect(database.snapshot(async () => 'read')).rejects.toThrow();
    proxy.restore();
    expect(await database.snapshot(async () => 'read')).toBe('read');
  } finally {
    await database.close();
    await proxy.close();
  }
});

test('a file that is not a database is reported to the operator', async () => {
  using folder = temporaryFolder();
  writeFileSync(folder.file('halyard.db'), 'this is a letter and no database, '.repeat(100));
  const database = lazily({ data: folder.path, databasePoolSize: 1 });
  await expect(database.query('SELECT 1')).rejects.toThrow(StorageError);
  await database.close();
});
