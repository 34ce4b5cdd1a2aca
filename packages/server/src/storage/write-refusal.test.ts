import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { StorageError, UnwritableDatabaseError } from '../domain/errors.ts';
import { diskTrouble } from './backup-file.ts';
import type { OpenDatabase } from './database.ts';
import { LazyDatabase, SqlStore } from './store.ts';
import { ENGINES, openTestStore, type TestEngine, withTransactions } from './test-engines.ts';
import { ADA, changing, seed, writeState } from './test-records.ts';

setDefaultTimeout(60_000);

/** Lets the engine answer writes as with a full disk, until the returned function is called. */
async function fillDisk(database: OpenDatabase): Promise<() => Promise<unknown>> {
  if (database.engine === 'sqlite') {
    // No page more than there are.
    await database.query('PRAGMA max_page_count = 1');
    return () => database.query('PRAGMA max_page_count = 1000000');
  }
  await database.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`);
  for (const table of ['audit_log', 'sign_in_failures'])
    await database.query(
      `CREATE TRIGGER refuse BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
  return () => database.query('DROP FUNCTION refuse CASCADE');
}

describe.each(ENGINES)('a full disk of $name', (engine: TestEngine) => {
  test('is named to writers, who fail together, and noticed until a write succeeds', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store, ['checkout']);
    const seen: (string | undefined)[] = [];
    const lazy = new LazyDatabase(
      async () => home.database,
      (reason) => void seen.push(reason),
    );
    let transactions = 0;
    const counted = withTransactions(lazy, (work) => {
      transactions++;
      return lazy.transaction(work);
    });
    const store = new SqlStore(counted);
    // Larger than what is free in the pages that there are.
    const state = JSON.stringify({ enabled: true, value: 'x'.repeat(60_000) });
    const write = () =>
      writeState(store, {
        project: 'demo',
        environment: environment.name,
        key: 'checkout',
        actor: ADA,
        next: () => state,
      });

    const makeRoom = await fillDisk(home.database);
    const failures = await Promise.allSettled([write(), write(), write()]);
    for (const failure of failures) {
      const reason = failure.status === 'rejected' ? failure.reason : undefined;
      expect(reason).toBeInstanceOf(UnwritableDatabaseError);
      expect(reason.message).toMatch(/disk (of its server )?is full$/);
    }
    expect(transactions).toBe(1);
    const change = store.commit(ADA, changing(environment, ['checkout', state]));
    await expect(change).rejects.toBeInstanceOf(UnwritableDatabaseError);
    expect(lazy.refusal.reason).toMatch(/is full$/);

    await makeRoom();
    await lazy.refusal.probe();
    expect(lazy.refusal.reason).toBeUndefined();
    expect(seen).toEqual([expect.stringMatching(/is full$/), undefined]);
    expect((await write()).result.changed).toBe(true);
    expect(await home.database.query('SELECT bucket FROM sign_in_failures')).toEqual([]);
    lazy.refusal.close();
  });
});

describe('a disk on which a backup is written', () => {
  const sqlite = () => {
    using database = new Sqlite(':memory:');
    database.run('PRAGMA max_page_count = 1');
    database.run('CREATE TABLE t (x)');
  };
  test.each([
    ['SQLite', sqlite],
    ['the file system', () => writeFileSync('/dev/full', 'x')],
  ] as const)('is named when it is full, as %s says', (_, fill) => {
    let failure: unknown;
    try {
      fill();
    } catch (error) {
      failure = diskTrouble(new Error('the copy failed', { cause: error }), '/backup');
    }
    expect(failure).toBeInstanceOf(StorageError);
    expect(String(failure)).toContain('No space left in /backup');
  });

  test('is not blamed for other failures', () => {
    const error = new Error('something else');
    expect(diskTrouble(error, '/backup')).toBe(error);
  });
});
