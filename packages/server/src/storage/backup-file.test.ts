import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { restore } from '../nouns/restore.ts';
import { backUp } from './backup.ts';
import { type BackupOrigin, readBackupFile, writeBackupFile } from './backup-file.ts';
import { databaseFile, SCHEMA_VERSION } from './schema.ts';
import { BackupPlaces, dump, HALYARD, open } from './test-backups.ts';

setDefaultTimeout(60_000);

const places = new BackupPlaces();
afterAll(places.remove);

/** The origin of a backup that was not made by {@link backUp}. */
const ORIGIN = {
  createdAt: '2026-01-01T00:00:00.000Z',
  halyard: '1',
  engine: 'sqlite',
  schema: SCHEMA_VERSION,
  epoch: 'e',
  seq: 1,
} as const;

/** Writes a backup whose database was changed by hand, with the checksum of the result. */
async function writeForged(
  file: string,
  statements: readonly string[],
  origin: Partial<BackupOrigin> = {},
): Promise<void> {
  const { data } = await places.filled('sqlite');
  const copy = `${file}.db`;
  {
    using database = new Database(databaseFile(data));
    database.run('VACUUM INTO ?', [copy]);
  }
  {
    using forged = new Database(copy);
    for (const statement of statements) forged.run(statement);
  }
  await writeBackupFile(file, copy, { ...ORIGIN, ...origin });
}

describe('a file', () => {
  test('that is damaged anywhere is refused, and nothing is restored', async () => {
    const [source, target, file] = [
      await places.filled('sqlite'),
      await places.empty('sqlite'),
      places.file(),
    ];
    await backUp(source, file, HALYARD);
    const bytes = readFileSync(file);
    for (const at of [1100, bytes.length >> 1, bytes.length - 3]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(file, damaged);
      await expect(restore(file, target)).rejects.toThrow(/is damaged/);
    }
    writeFileSync(file, bytes.subarray(0, bytes.length - 100));
    await expect(restore(file, target)).rejects.toThrow(/is damaged/);
    writeFileSync(file, bytes);
    expect((await restore(file, target)).contents.projects).toBe(1);
  });

  test('is restored without the log that a lost database left behind', async () => {
    const [source, target, file] = [
      await places.filled('sqlite'),
      await places.filled('sqlite'),
      places.file(),
    ];
    await backUp(source, file, HALYARD);
    const path = databaseFile(target.data);
    {
      await using lost = await open(target);
      await lost.query(`INSERT INTO projects (id, name, created_at) VALUES ('x', 'lost', 1)`);
      cpSync(`${path}-wal`, `${path}.kept`);
    }
    rmSync(path);
    renameSync(`${path}.kept`, `${path}-wal`);
    await expect(restore(file, target)).rejects.toThrow('add --replace to remove what is left of it');
    await restore(file, target, { replace: true });
    expect(await dump(target)).toEqual(await dump(source));
  });

  test.each([
    [
      'a table with a name that is a statement',
      ['CREATE TABLE "projects; DELETE FROM flags; --" (id TEXT PRIMARY KEY)'],
    ],
    [
      'a view in place of a table',
      ['DROP TABLE stream_presence', 'CREATE VIEW stream_presence AS SELECT 1 AS node_id'],
    ],
    ['a column more', ['ALTER TABLE projects ADD COLUMN "x"", (SELECT 1)" TEXT']],
  ])('with %s is refused, also with a right checksum', async (_case, statements) => {
    const [target, file] = [await places.empty('sqlite'), places.file()];
    await writeForged(file, statements);
    await expect(restore(file, target)).rejects.toThrow('The backup has other tables than Halyard');
  });

  test('leaves its triggers behind', async () => {
    const [target, file] = [await places.empty('sqlite'), places.file()];
    await writeForged(file, ['CREATE TRIGGER evil AFTER UPDATE ON feed BEGIN DELETE FROM projects; END']);
    await restore(file, target);
    await using database = await open(target);
    expect(await database.query(`SELECT name FROM sqlite_master WHERE type = 'trigger'`)).toEqual([]);
    expect(await database.query('SELECT name FROM projects')).toHaveLength(1);
  });

  test.each([
    ['is no backup', 'hello', 'is not a backup of Halyard'],
    [
      'has a newer format',
      JSON.stringify({ format: 'halyard backup', version: 2, halyard: '9.0.0' }),
      'was written by a newer Halyard (9.0.0)',
    ],
  ])('that %s is refused', async (_case, text, message) => {
    const file = places.file();
    writeFileSync(file, text.padEnd(2000));
    await expect(restore(file, await places.empty('sqlite'))).rejects.toThrow(message);
  });

  test('that is of a newer schema is refused', async () => {
    const [target, file] = [await places.empty('sqlite'), places.file()];
    await writeForged(file, [], { schema: SCHEMA_VERSION + 1, halyard: '9.0.0' });
    await expect(restore(file, target)).rejects.toThrow('was made by a newer Halyard (9.0.0)');
  });

  test('that says it is smaller than it is is not unpacked further', async () => {
    const [file, target] = [places.file(), places.file()];
    const header = { format: 'halyard backup', version: 1, ...ORIGIN, bytes: 1000, sha256: '' };
    const bomb = Bun.gzipSync(new Uint8Array(16 * 1024 * 1024));
    writeFileSync(file, Buffer.concat([Buffer.from(JSON.stringify(header).padEnd(1024)), bomb]));
    await expect(readBackupFile(file, target)).rejects.toThrow('is damaged');
    expect(statSync(target).size).toBeLessThan(1024 * 1024);
  });

  test('that exists is never replaced by a backup', async () => {
    const file = places.file();
    writeFileSync(file, 'mine');
    await expect(backUp(await places.filled('sqlite'), file, HALYARD)).rejects.toThrow(
      'exists: choose another name',
    );
    // Also where it came to be while the copy was taken.
    await expect(writeBackupFile(file, file, ORIGIN)).rejects.toThrow('choose another name');
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('that cannot be read again does not stay', async () => {
    const [file, database] = [places.file(), places.file()];
    writeFileSync(database, 'the contents');
    // So long that the header reaches into the contents.
    const origin = { ...ORIGIN, halyard: 'x'.repeat(1024) };
    await expect(writeBackupFile(file, database, origin)).rejects.toThrow('is not a backup');
    expect(existsSync(file)).toBe(false);
  });

  test('of a damaged database is not made', async () => {
    const [place, file] = [await places.filled('sqlite'), places.file()];
    const path = databaseFile(place.data);
    const rewrite = (from: string, to: string) => {
      const bytes = readFileSync(path, 'latin1');
      expect(bytes).toContain(from);
      writeFileSync(path, bytes.replaceAll(from, to), 'latin1');
    };
    const [whole, loose] = ['name TEXT NOT NULL UNIQUE', 'name TEXT          UNIQUE'];
    rewrite(whole, loose);
    {
      using database = new Database(path);
      database.run('UPDATE projects SET name = NULL');
      database.run('PRAGMA wal_checkpoint(TRUNCATE)');
    }
    rewrite(loose, whole);
    await expect(backUp(place, file, HALYARD)).rejects.toThrow('NULL value in projects.name');
    expect(existsSync(file)).toBe(false);
  });
});
