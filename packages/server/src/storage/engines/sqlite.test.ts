import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, within } from '@halyard/testing';
import { StorageError, StoreBusy } from '../../domain/errors.ts';
import { SqlDeliveryStore } from '../../nouns/deliveries/delivery-table.ts';
import { readStoredStates } from '../../nouns/states/state-table.ts';
import { loadSnapshot } from '../change-log.ts';
import type { Database, Queryable } from '../database.ts';
import { migrate } from '../schema.ts';
import { SqlStore } from '../store.ts';
import { ADA, changing, readLog, seed } from '../test-records.ts';
import { openSqlite } from './sqlite.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';

/** A fresh file with a project in it. */
async function openFile() {
  const folder = temporaryFolder();
  const path = folder.file('halyard.db');
  const database = await openSqlite({ path });
  await migrate(database);
  const store = new SqlStore(database);
  const close = async () => {
    await database.close();
    folder.remove();
  };
  return { folder, path, database, store, ...(await seed(store)), [Symbol.asyncDispose]: close };
}

test('the event loop turns between queued transactions, so that reads of flags are answered', async () => {
  await using file = await openFile();
  let turns = 0;
  let tick = setImmediate(function count() {
    turns++;
    tick = setImmediate(count);
  });
  const seenAt = await Promise.all(
    Array.from({ length: 20 }, () => file.database.transaction(async () => turns)),
  );
  clearImmediate(tick);
  expect(new Set(seenAt).size).toBe(20);
});

test('the event loop turns between the statements of a long transaction, and of a long snapshot', async () => {
  await using file = await openFile();
  for (const kind of ['transaction', 'snapshot'] as const) {
    let hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    const statements = await file.database[kind](async ({ query }: Queryable) => {
      let count = 0;
      for (; !hasTurned && count < 100_000; count++) await query('SELECT seq FROM feed');
      return count;
    });
    expect(statements).toBeLessThan(100_000);
  }
});

describe('an SQLite database in use', () => {
  test('works the same in memory, including wake-ups, and ends with its connection', async () => {
    const database = await openSqlite({ path: ':memory:' });
    await migrate(database);
    const store = new SqlStore(database);
    const { environment } = await seed(store);
    const session = await database.openLogSession();
    const woken = new Promise<void>((resolve) => session.onWake(() => resolve()));
    await store.commit(ADA, changing(environment, ['checkout', ON]));
    await within('the session is woken', woken);
    expect((await session.head()).seq).toBe(3);
    expect((await loadSnapshot(database)).states.length).toBe(1);
    await database.close();
  });

  test('a full disk fails the write and leaves nothing behind; writes work again once there is space', async () => {
    await using home = await openFile();
    const [{ pages } = { pages: 0 }] = await home.database.query<{ pages: number }>(
      'SELECT page_count AS pages FROM pragma_page_count',
    );
    await home.database.query(`PRAGMA max_page_count = ${pages + 4}`);
    const large = `{"enabled":true,"value":"${'x'.repeat(60_000)}"}`;
    const full = home.store.commit(ADA, changing(home.environment, ['checkout', large]));
    await expect(full).rejects.toThrow(/full/);
    expect(await home.store.read((reader) => readStoredStates(reader, home.environment.id))).toEqual([]);
    expect((await readLog(home.database, 0, 100)).length).toBe(2);
    await home.database.query('PRAGMA max_page_count = 1000000');
    const { result } = await home.store.commit(ADA, changing(home.environment, ['checkout', large]));
    expect(result.revision).toBe(1);
  });

  test('the connection is clean again after a failed COMMIT', async () => {
    await using home = await openFile();
    const failing = home.database.transaction(async (transaction) => {
      await transaction.query('PRAGMA defer_foreign_keys = ON');
      await transaction.query(`UPDATE environments SET project_id = 'missing'`);
    });
    await expect(failing).rejects.toThrow(/FOREIGN KEY/);
    const { seq } = await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(seq).toBe(3);
  });

  test('a writer waits for another process that holds the file, while the event loop keeps running', async () => {
    await using home = await openFile();
    const other = new Sqlite(home.path);
    other.run('BEGIN IMMEDIATE');
    const write = home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    // A writer that kept the event loop would give up before its first turn.
    for (let turn = 0; turn < 5; turn++) await Bun.sleep(1);
    other.run('ROLLBACK');
    other.close(true);
    expect((await write).result.revision).toBe(1);
  });

  test('a statement outside a transaction also waits for another process, so that no receipt is lost', async () => {
    await using home = await openFile();
    const script = `
      const sqlite = new (require('bun:sqlite').Database)(process.argv[1]);
      sqlite.run('BEGIN IMMEDIATE');
      console.log('held');
      await Bun.stdin.text();
      sqlite.run('ROLLBACK');`;
    const other = Bun.spawn([process.execPath, '-e', script, home.path], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    });
    const { value } = await other.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('held\n');
    const deliveries = new SqlDeliveryStore(home.database);
    const receipt = { seq: 2, node: 'n', environmentId: home.environment.id, streams: 1, seen: 1 };
    const saving = deliveries.saveReceipts([{ ...receipt, slowestMs: 1, at: 1 }]);
    // Long enough for the first attempt to have failed.
    const isSettled = Promise.race([saving.then(() => true), Bun.sleep(200).then(() => false)]);
    expect(await isSettled).toBe(false);
    other.stdin.end();
    await within('the receipt is saved', saving);
    expect((await deliveries.receipts(1, 9)).length).toBe(1);
    await within('the other process ends', other.exited);
  });

  test('a writer whose file is held for too long fails as busy and writes nothing', async () => {
    await using home = await openFile();
    const other = new Sqlite(home.path);
    other.run('BEGIN IMMEDIATE');
    await expect(home.store.commit(ADA, changing(home.environment, ['checkout', ON]))).rejects.toThrow(
      StoreBusy,
    );
    other.run('ROLLBACK');
    other.close(true);
    const { result } = await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    expect(result.revision).toBe(1);
  });

  test('transactions of one node run one at a time', async () => {
    await using home = await openFile();
    const steps: string[] = [];
    const run = (name: string) =>
      home.database.transaction(async (transaction) => {
        steps.push(`${name} begins`);
        await Bun.sleep(5);
        await transaction.query('SELECT 1');
        steps.push(`${name} ends`);
      });
    await Promise.all([run('a'), run('b'), home.database.query('SELECT 1').then(() => steps.push('query'))]);
    expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'query']);
  });

  test('when the file is replaced, writes are refused and the session is lost', async () => {
    await using home = await openFile();
    const session = await home.database.openLogSession();
    const lost = new Promise<Error>((resolve) => session.onLost(resolve));
    renameSync(home.path, home.folder.file('moved.db'));
    const write = home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    await expect(write).rejects.toThrow(/removed or replaced.*restart/);
    await expect(session.head()).rejects.toThrow(StorageError);
    expect((await within('the session is lost', lost)).message).toContain('removed or replaced');
    await expect(home.database.openLogSession()).rejects.toThrow('removed or replaced');
  });

  test('other programs find the file locked while it is in use, so that they leave its log alone', async () => {
    await using home = await openFile();
    const answers = [await takeForItself(home.path)];
    await home.database.openLogSession();
    answers.push(await takeForItself(home.path));
    await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    answers.push(await takeForItself(home.path));
    const second = await openSqlite({ path: home.path });
    answers.push(await takeForItself(home.path));
    await second.close();
    expect(answers).toEqual(Array(4).fill('SQLITE_BUSY'));
    expect((await readLog(home.database, 2, 10)).length).toBe(1);
  });

  test('releases the file for other programs when it is closed', async () => {
    await using home = await openFile();
    await home.database.close();
    expect(await takeForItself(home.path)).toBe('alone');
  });

  test.each([
    ['removed', (path: string) => rmSync(path)],
    ['replaced', (path: string) => renameSync(path, `${path}.old`) ?? writeFileSync(path, '')],
  ])('when the write-ahead log is %s, writes are refused and the session is lost', async (_, strike) => {
    await using home = await openFile();
    const session = await home.database.openLogSession();
    const lost = new Promise<Error>((resolve) => session.onLost(resolve));
    await home.store.commit(ADA, changing(home.environment, ['checkout', ON]));
    strike(`${home.path}-wal`);
    const write = home.store.commit(ADA, changing(home.environment, ['checkout', OFF]));
    await expect(write).rejects.toThrow(/halyard\.db-wal was removed or replaced.*restart/);
    await expect(session.head()).rejects.toThrow(StorageError);
    expect((await within('the session is lost', lost)).message).toContain('removed or replaced');
    await expect(home.database.openLogSession()).rejects.toThrow('removed or replaced');
  });

  test('a write during which the write-ahead log is removed is not acknowledged', async () => {
    await using home = await openFile();
    const write = home.store.commit(ADA, async (transaction) => {
      const changed = await changing(home.environment, ['checkout', ON])(transaction);
      rmSync(`${home.path}-wal`);
      return changed;
    });
    await expect(write).rejects.toThrow(/removed or replaced.*restart/);
  });

  test('reports a damaged file to the operator', async () => {
    await using home = await openFile();
    const large = `{"enabled":true,"value":"${'x'.repeat(60_000)}"}`;
    await home.store.commit(ADA, changing(home.environment, ['checkout', large]));
    await home.database.close();
    await damagePages(home.path);
    const damaged = await openSqlite({ path: home.path });
    try {
      await expect(loadSnapshot(damaged)).rejects.toBeInstanceOf(StorageError);
      await expect(loadSnapshot(damaged)).rejects.toThrow(/^The database file halyard.db is damaged.*backup/);
      const session = await damaged.openLogSession();
      const lost = new Promise<Error>((resolve) => session.onLost(resolve));
      await expect(readLog(session, 0, 10)).rejects.toBeInstanceOf(StorageError);
      expect((await within('the session is lost', lost)).message).toContain('is damaged');
    } finally {
      await damaged.close();
    }
  });

  test('no acknowledged write is lost when the process is killed', async () => {
    await using home = await openFile();
    for (let round = 0; round < 3; round++) {
      const acknowledged = await writeUntilKilled(home.path, home.environment.id, 40 + round * 37);
      const reopened: Database = await openSqlite({ path: home.path });
      const [row] = await reopened.query<{ revision: number }>('SELECT revision FROM environments');
      const revision = row?.revision ?? 0;
      expect(revision).toBeGreaterThanOrEqual(acknowledged);
      const log = await readLog(reopened, 2, 10_000);
      expect(log.map((entry) => entry.revision)).toEqual(
        Array.from({ length: revision }, (_, index) => index + 1),
      );
      const [audited] = await reopened.query<{ count: number }>(
        `SELECT count(*) AS count FROM audit_log WHERE action = 'flag.changed'`,
      );
      expect(audited?.count).toBe(revision);
      await reopened.close();
    }
  });
});

/**
 * Reads the file in another process that wants it for itself alone, as SQLite does before it removes a write-ahead
 * log. Returns the result in that process: "alone", or the code of the refusal.
 */
async function takeForItself(path: string): Promise<string> {
  const script = `
    const sqlite = new (require('bun:sqlite').Database)(process.argv[1]);
    try {
      sqlite.run('PRAGMA locking_mode = EXCLUSIVE');
      sqlite.run('SELECT count(*) FROM flags');
      console.log('alone');
    } catch (error) {
      console.log(error.code);
    }
    sqlite.close(true);`;
  const child = Bun.spawn([process.execPath, '-e', script, path], { stdout: 'pipe', stderr: 'inherit' });
  return (await child.stdout.text()).trim();
}

/** Overwrites the pages of the tables, and leaves those of the schema. The database must be closed. */
async function damagePages(path: string): Promise<void> {
  const sqlite = new Sqlite(path);
  const [[pageSize = 0] = []] = sqlite.query('PRAGMA page_size').values() as number[][];
  const text = `SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name IN ('flag_states', 'change_log')`;
  const pages = sqlite.query(text).values() as number[][];
  sqlite.close(true);
  const bytes = await Bun.file(path).bytes();
  for (const [page = 0] of pages) bytes.fill(0xaa, (page - 1) * pageSize, page * pageSize);
  await Bun.write(path, bytes);
}

/** Starts a writer, kills it once it has printed `count` acknowledgements, and returns the last one. */
async function writeUntilKilled(path: string, environmentId: string, count: number): Promise<number> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, '../test-crash-writer.ts'), path, environmentId],
    {
      stdout: 'pipe',
      stderr: 'inherit',
    },
  );
  let text = '';
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.split('\n').length > count) child.kill('SIGKILL');
  }
  await within('the writer ends', child.exited);
  expect(child.signalCode).toBe('SIGKILL');
  // The rest after the last line end was not printed completely.
  return Number(text.split('\n').at(-2));
}
