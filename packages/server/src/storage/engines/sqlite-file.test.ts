import { Database as Sqlite } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { temporaryFolder } from '@halyard/testing';
import { openSqliteFile } from './sqlite-file.ts';

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
