import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { restore } from '../nouns/restore.ts';
import { backUp } from './backup.ts';
import { readBackupFile } from './backup-file.ts';
import type { DatabasePlace } from './database-copy.ts';
import { openSqlite } from './engines/sqlite.ts';
import { databaseFile, migrate } from './schema.ts';
import { BackupPlaces, disposable, dump, HALYARD, headOf, open } from './test-backups.ts';

setDefaultTimeout(60_000);

const places = new BackupPlaces();
afterAll(places.remove);

describe.each(['sqlite', 'postgres'])('a backup of %s', (from) => {
  test.each(['sqlite', 'postgres'])(
    'restores every row into %s, in a new epoch with higher revisions',
    async (to) => {
      const [source, target, file] = [await places.filled(from), await places.empty(to), places.file()];
      const { header, contents } = await backUp(source, file, HALYARD);
      expect(contents).toEqual({ projects: 1, environments: 1, flags: 40 });
      expect(header).toMatchObject({ engine: from, halyard: '1.2.3' });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      // Not in a table, and not in what SQLite leaves of deleted rows.
      await readBackupFile(file, `${file}.db`);
      expect(readFileSync(`${file}.db`, 'latin1')).not.toContain('fleeting');
      const restored = await restore(file, target);
      expect(restored).toMatchObject({ header, contents });
      expect(await dump(target)).toEqual(await dump(source));
      const [before, after] = [await headOf(source), await headOf(target)];
      expect(after.epoch).not.toBe(before.epoch);
      expect(after.revision).toBeGreaterThan(before.revision);
    },
  );

  test('replaces a database that is not empty only on request, and goes beyond the revisions it served', async () => {
    const [place, file] = [await places.filled(from), places.file()];
    await backUp(place, file, HALYARD);
    const served = 5_000_000;
    {
      await using database = await open(place);
      await database.query('UPDATE environments SET revision = $1', [served]);
    }
    const before = await headOf(place);
    await expect(restore(file, place)).rejects.toThrow('The database is not empty: add --replace');
    expect(await headOf(place)).toEqual(before);
    await restore(file, place, { replace: true });
    const after = await headOf(place);
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.revision).toBeGreaterThan(served);
  });

  test('is refused while a node uses the database, which stays as it was', async () => {
    const [place, file] = [await places.filled(from), places.file()];
    await backUp(place, file, HALYARD);
    const before = await headOf(place);
    // SQLite's locks count by process.
    await using user = await useFromOutside(place);
    // Also where --replace is missing, which is said once the node is gone.
    for (const replace of [true, false])
      await expect(restore(file, place, { replace })).rejects.toThrow(
        'A node uses the database: stop all nodes first.',
      );
    await user.release();
    expect(await headOf(place)).toEqual(before);
  });

  test('of an older schema is migrated when it is restored', async () => {
    const [place, target, file] = [await places.empty(from), await places.empty(from), places.file()];
    {
      const { data, databaseUrl: url } = place;
      const { openPostgresEngine } = await import('./schema.ts');
      await using database = disposable(
        await (url === undefined ? openSqlite({ path: databaseFile(data) }) : openPostgresEngine({ url })),
      );
      await migrate(database, { upTo: 1 });
      await database.query(`INSERT INTO projects (id, name, created_at) VALUES ('p', 'old', 1)`);
    }
    expect((await backUp(place, file, HALYARD)).header.schema).toBe(1);
    await restore(file, target);
    expect((await dump(target)).projects).toMatchObject([{ id: 'p', name: 'old', created_at: 1 }]);
  });
});

/** Holds the database open from a process of its own, as a node does. */
async function useFromOutside({ data, databaseUrl }: DatabasePlace) {
  const program = `
    const { openDatabase } = await import(${JSON.stringify(`${import.meta.dir}/schema.ts`)});
    const database = await openDatabase(${JSON.stringify({ data, databaseUrl, databasePoolSize: 1 })});
    await database.query('SELECT 1');
    console.log('open');
    await Bun.stdin.text();
    await database.close();`;
  const child = Bun.spawn([process.execPath, '-e', program], { stdin: 'pipe', stdout: 'pipe' });
  await child.stdout.getReader().read();
  const release = async () => {
    child.stdin.end();
    await child.exited;
  };
  return { release, [Symbol.asyncDispose]: release };
}
