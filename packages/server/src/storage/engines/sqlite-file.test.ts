import { Database as Sqlite } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { temporaryFolder } from '@halyard/testing';
import { StorageError } from '../../domain/errors.ts';
import { migrate } from '../schema.ts';
import { openSqlite } from './sqlite.ts';
import { checkVersion, openSqliteFile, refuseNetworkFileSystem } from './sqlite-file.ts';

setDefaultTimeout(60_000);

test('every connection flushes each commit and checks references', async () => {
  using folder = temporaryFolder();
  const path = folder.file('halyard.db');
  for (let turn = 0; turn < 3; turn++) {
    const sqlite = await openSqliteFile(path);
    expect(sqlite.query('PRAGMA synchronous').values()).toEqual([[2]]);
    expect(sqlite.query('PRAGMA journal_mode').values()).toEqual([['wal']]);
    expect(sqlite.query('PRAGMA foreign_keys').values()).toEqual([[1]]);
    sqlite.run('CREATE TABLE IF NOT EXISTS t (x)');
    sqlite.close(true);
  }
});

test('the folder is created where missing, and other users cannot read the file', async () => {
  using folder = temporaryFolder();
  const path = folder.file('a/b/halyard.db');
  const database = await openSqlite({ path });
  await migrate(database);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  expect(statSync(folder.file('a/b')).mode & 0o777).toBe(0o700);
  await database.close();
});

test('rejects the database of another program, and leaves it alone', async () => {
  using folder = temporaryFolder();
  const path = folder.file('other.db');
  const other = new Sqlite(path);
  other.run('CREATE TABLE songs (title TEXT)');
  other.close(true);
  const before = await Bun.file(path).bytes();
  await refused(path, /another program.*name a file that does not exist/);
  expect(await Bun.file(path).bytes()).toEqual(before);
  const marked = new Sqlite(folder.file('marked.db'));
  marked.run('PRAGMA application_id = 252006673');
  marked.close(true);
  await refused(folder.file('marked.db'), /another program/);
});

test('rejects a file that is not a database, and leaves it alone', async () => {
  using folder = temporaryFolder();
  const text = 'Dear diary, '.repeat(500);
  await Bun.write(folder.file('diary.txt'), text);
  await refused(folder.file('diary.txt'), /not an SQLite database/);
  expect(await Bun.file(folder.file('diary.txt')).text()).toBe(text);
});

test('rejects a folder in place of the file, and a file in place of the folder', async () => {
  using folder = temporaryFolder();
  await refused(folder.path, /is a folder: name a file in it/);
  await Bun.write(folder.file('file'), '');
  await refused(folder.file('file/halyard.db'), /a part of the path is a file/);
});

test('rejects a folder or file that is not writable, and explains what to do', async () => {
  using folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  mkdirSync(folder.file('closed'), { mode: 0o555 });
  await Bun.write(folder.file('read-only.db'), '');
  chmodSync(folder.file('read-only.db'), 0o444);
  await asOrdinaryUser(() => refused(folder.file('closed/halyard.db'), /cannot write there.*chown/));
  await asOrdinaryUser(() => refused(folder.file('read-only.db'), /cannot write there/));
});

test('versions of SQLite that can corrupt a database are refused', () => {
  for (const version of ['3.51.3', '3.50.7', '3.44.6', '3.52.0', '3.54.1', '4.0.0']) checkVersion(version);
  for (const version of ['3.51.2', '3.50.6', '3.49.9', '3.44.5', '3.45.1', '3.7.0', 'nonsense']) {
    expect(() => checkVersion(version)).toThrow(StorageError);
  }
});

test('network file systems are refused by name', () => {
  expect(() => refuseNetworkFileSystem(0x6969, '/mnt/halyard.db')).toThrow(/network file system \(NFS\)/);
  // As a signed number, which is how some platforms give it.
  expect(() => refuseNetworkFileSystem(0xff534d42 | 0, '/mnt/halyard.db')).toThrow(/CIFS/);
  refuseNetworkFileSystem(0xef53, '/var/lib/halyard.db');
});

test('waits for a file that another process is creating', async () => {
  using folder = temporaryFolder();
  const path = folder.file('halyard.db');
  using other = new Sqlite(path, { create: true });
  // Not in WAL mode yet: its writer keeps even readers of the schema away.
  other.run('BEGIN EXCLUSIVE');
  const opening = openSqliteFile(path);
  await Bun.sleep(100);
  other.run('ROLLBACK');
  using sqlite = await opening;
  expect(sqlite.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
});

async function refused(path: string, reason: RegExp): Promise<void> {
  const attempt = openSqlite({ path });
  await expect(attempt).rejects.toBeInstanceOf(StorageError);
  await expect(attempt).rejects.toThrow(reason);
}

/** Runs the part of `work` before its first wait as a user other than root, who ignores file permissions. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    const working = work();
    process.seteuid?.(0);
    return await working;
  } finally {
    process.seteuid?.(0);
  }
}
