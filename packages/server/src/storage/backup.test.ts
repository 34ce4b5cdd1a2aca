import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { sharedPostgres, temporaryFolder } from '@halyard/testing';
import { insertKey } from '../nouns/keys/key-table.ts';
import { insertInvitation, readOpenInvitations } from '../nouns/people/invitation-table.ts';
import { restore } from '../nouns/restore.ts';
import { insertPlan, readPlan } from '../nouns/rollouts/rollout-table.ts';
import { insertSchedule, readSchedule } from '../nouns/schedules/schedule-table.ts';
import { backUp } from './backup.ts';
import { type BackupOrigin, readBackupFile, writeBackupFile } from './backup-file.ts';
import { listTables } from './copy-tables.ts';
import type { OpenDatabase } from './database.ts';
import type { DatabasePlace } from './database-copy.ts';
import { openSqlite } from './engines/sqlite.ts';
import { databaseFile, migrate, openDatabase, SCHEMA_VERSION } from './schema.ts';
import { SqlStore } from './store.ts';
import { ADA, changing, makeKey, seed } from './test-records.ts';

setDefaultTimeout(60_000);

const folder = temporaryFolder();
afterAll(() => folder.remove());

const HALYARD = { halyard: '1.2.3' };
let places = 0;

async function newPlace(engine: string): Promise<DatabasePlace> {
  places += 1;
  const data = folder.file(`data-${places}`);
  if (engine === 'sqlite') return { data };
  return { data, databaseUrl: await (await sharedPostgres()).createDatabase() };
}

function newFile(): string {
  places += 1;
  return folder.file(`${places}.backup`);
}

function open({ data, databaseUrl }: DatabasePlace): Promise<OpenDatabase> {
  return openDatabase({ data, ...(databaseUrl !== undefined && { databaseUrl }), databasePoolSize: 2 });
}

/** A place with a project, changes, a key and texts that are awkward to copy. */
async function filledPlace(engine: string): Promise<DatabasePlace> {
  const place = await newPlace(engine);
  await using database = disposable(await open(place));
  const store = new SqlStore(database);
  const keys = Array.from({ length: 40 }, (_, index) => `flag-${index}-ä'"\\`);
  const { project, environment } = await seed(store, keys);
  const states = keys.map((key, index): [string, string] => [
    key,
    `{"enabled":true,"value":${JSON.stringify('x'.repeat(index * 500))},"n":1.0}`,
  ]);
  await store.commit(ADA, changing(environment, ...states));
  await store.commit(ADA, (tx) => insertKey(tx, makeKey(project), 'digest-of-a-key'));
  await database.query(
    `INSERT INTO stream_presence (node_id, environment_id, key_id, streams, seen_at)
      VALUES ('fleeting-node', 'e', 'k', 1, 2)`,
  );
  await database.query(
    `INSERT INTO operators (id, email, name, password_hash, role, can_change_protected, created_at)
      VALUES ('o', 'ada', 'Ada', '', 'admin', 1, 1)`,
  );
  await database.query(
    `INSERT INTO sessions (digest, operator_id, created_at, last_used_at) VALUES ('fleeting-session', 'o', 1, 2)`,
  );
  return place;
}

function disposable(database: OpenDatabase): OpenDatabase & AsyncDisposable {
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

/** Every row of a place's tables, except what a restore changes on purpose. */
async function dump(place: DatabasePlace): Promise<Record<string, unknown[]>> {
  await using database = disposable(await open(place));
  await using schema = disposable(await openSqlite({ path: ':memory:' }));
  await migrate(schema);
  const dumped: Record<string, unknown[]> = {};
  for (const { name, columns, key } of await listTables(schema)) {
    const rows = await database.query<Record<string, unknown>>(
      `SELECT ${columns.map((column) => `"${column}"`).join(', ')} FROM ${name}`,
    );
    const sorted = rows
      .map((row) => ({ ...row, epoch: undefined, ...(name === 'environments' && { revision: 0 }) }))
      .sort((a, b) => (rowKey(a, key) < rowKey(b, key) ? -1 : 1));
    dumped[name] = ['stream_presence', 'sessions'].includes(name) ? [] : sorted;
  }
  return dumped;
}

function rowKey(row: Record<string, unknown>, key: readonly string[]): string {
  return JSON.stringify(key.map((column) => row[column]));
}

async function headOf(place: DatabasePlace): Promise<{ epoch: string; revision: number }> {
  await using database = disposable(await open(place));
  const [head] = await database.query<{ epoch: string; revision: number }>(
    'SELECT epoch, (SELECT max(revision) FROM environments) AS revision FROM feed',
  );
  if (head === undefined) throw new Error('the log has no end');
  return head;
}

describe.each(['sqlite', 'postgres'])('a backup of %s', (from) => {
  test.each(['sqlite', 'postgres'])(
    'restores every row into %s, in a new epoch with higher revisions',
    async (to) => {
      const [source, target, file] = [await filledPlace(from), await newPlace(to), newFile()];
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
    const [place, file] = [await filledPlace(from), newFile()];
    await backUp(place, file, HALYARD);
    const served = 5_000_000;
    {
      await using database = disposable(await open(place));
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

  describe('with schedules, a rollout plan and an invitation', () => {
    const HOUR_MS = 3_600_000;
    const NOW = 1_790_000_000_000;
    const [late, later] = [NOW + HOUR_MS, NOW + 3 * HOUR_MS];

    /** A place in which one schedule and the step of a plan are due in an hour, and another schedule in three. */
    async function plannedPlace(): Promise<DatabasePlace> {
      const place = await newPlace(from);
      await using database = disposable(await open(place));
      const store = new SqlStore(database);
      const { project, environment } = await seed(store, ['checkout']);
      const where = { projectId: project.id, environmentId: environment.id };
      const made = { createdBy: ADA.name, createdAt: NOW };
      await store.commit(ADA, async (tx) => {
        const schedule = { ...where, ...made, changes: '[]', status: 'pending' } as const;
        await insertSchedule(tx, { ...schedule, id: 'late', dueAt: late });
        await insertSchedule(tx, { ...schedule, id: 'later', dueAt: later });
        await insertPlan(tx, {
          ...where,
          ...made,
          id: 'plan',
          flagKey: 'checkout',
          steps: '[{"rolloutPct":10}]',
          fromPct: 0,
          runsAs: ADA.name,
          runsSince: NOW,
          status: 'running',
          statusAt: NOW,
          statusBy: ADA.name,
          nextStep: 0,
          dueAt: late,
          ran: '[]',
        });
        const rights = { role: 'viewer', canChangeProtected: false } as const;
        const link = { id: 'link', kind: 'invite', email: 'bob@example.com', ...rights, ...made } as const;
        await insertInvitation(tx, { ...link, expiresAt: later }, 'digest');
      });
      return place;
    }

    async function statusesIn(place: DatabasePlace) {
      await using database = disposable(await open(place));
      return await new SqlStore(database).read(async (db) => ({
        late: await readSchedule(db, 'late'),
        later: (await readSchedule(db, 'later'))?.status,
        plan: await readPlan(db, 'plan'),
        links: (await readOpenInvitations(db, NOW)).length,
      }));
    }

    test('carries out nothing that came due since, and ends links that may have been used', async () => {
      const [place, file] = [await plannedPlace(), newFile()];
      const { header } = await backUp(place, file, HALYARD);
      const { interrupted } = await restore(file, place, { replace: true, now: NOW + 2 * HOUR_MS });
      expect(interrupted).toEqual({ failedSchedules: 1, pendingSchedules: 1, pausedPlans: 1, endedLinks: 1 });
      const { late, later, plan, links } = await statusesIn(place);
      const reason = expect.stringContaining(`restored from the backup of ${header.createdAt}`);
      expect(late).toMatchObject({ status: 'failed', outcome: reason });
      expect(plan).toMatchObject({ status: 'paused', reason, statusBy: 'system' });
      expect(plan?.dueAt).toBeUndefined();
      expect([later, links]).toEqual(['pending', 0]);
      await using database = disposable(await open(place));
      const entries = await database.query<{ action: string; note: string }>(
        "SELECT action, note FROM audit_log WHERE actor = 'system' ORDER BY action",
      );
      expect(entries.map(({ action }) => action)).toEqual([
        'invitation.revoked',
        'rollout.paused',
        'schedule.failed',
      ]);
      for (const { note } of entries) expect(note).toContain(header.createdAt);
    });

    test('stops all that came due, also where it is more than is read at once', async () => {
      const [place, file] = [await plannedPlace(), newFile()];
      {
        await using database = disposable(await open(place));
        const columns = 'project_id, environment_id, changes, created_by, created_at, due_at, status';
        await database.query(
          `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 500)
            INSERT INTO scheduled_changes (id, ${columns})
            SELECT 'late-' || n, ${columns} FROM scheduled_changes, numbers WHERE id = 'late'`,
        );
      }
      await backUp(place, file, HALYARD);
      const { interrupted } = await restore(file, place, { replace: true, now: NOW + 2 * HOUR_MS });
      expect(interrupted).toMatchObject({ failedSchedules: 501, pendingSchedules: 1 });
    });

    test('carries on where that is asked for', async () => {
      const [place, file] = [await plannedPlace(), newFile()];
      await backUp(place, file, HALYARD);
      const wish = { replace: true, runOverdue: true, now: NOW + 2 * HOUR_MS } as const;
      const { interrupted } = await restore(file, place, wish);
      expect(interrupted).toEqual({ failedSchedules: 0, pendingSchedules: 2, pausedPlans: 0, endedLinks: 1 });
      const { late, plan } = await statusesIn(place);
      expect([late?.status, plan?.status]).toEqual(['pending', 'running']);
    });
  });

  test('is refused while a node uses the database, which stays as it was', async () => {
    const [place, file] = [await filledPlace(from), newFile()];
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
    const [place, target, file] = [await newPlace(from), await newPlace(from), newFile()];
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
  const { data } = await filledPlace('sqlite');
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
    const [source, target, file] = [await filledPlace('sqlite'), await newPlace('sqlite'), newFile()];
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
    const [source, target, file] = [await filledPlace('sqlite'), await filledPlace('sqlite'), newFile()];
    await backUp(source, file, HALYARD);
    const path = databaseFile(target.data);
    {
      await using lost = disposable(await open(target));
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
    const [target, file] = [await newPlace('sqlite'), newFile()];
    await writeForged(file, statements);
    await expect(restore(file, target)).rejects.toThrow('The backup has other tables than Halyard');
  });

  test('leaves its triggers behind', async () => {
    const [target, file] = [await newPlace('sqlite'), newFile()];
    await writeForged(file, ['CREATE TRIGGER evil AFTER UPDATE ON feed BEGIN DELETE FROM projects; END']);
    await restore(file, target);
    await using database = disposable(await open(target));
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
    const file = newFile();
    writeFileSync(file, text.padEnd(2000));
    await expect(restore(file, await newPlace('sqlite'))).rejects.toThrow(message);
  });

  test('that is of a newer schema is refused', async () => {
    const [target, file] = [await newPlace('sqlite'), newFile()];
    await writeForged(file, [], { schema: SCHEMA_VERSION + 1, halyard: '9.0.0' });
    await expect(restore(file, target)).rejects.toThrow('was made by a newer Halyard (9.0.0)');
  });

  test('that says it is smaller than it is is not unpacked further', async () => {
    const [file, target] = [newFile(), newFile()];
    const header = { format: 'halyard backup', version: 1, ...ORIGIN, bytes: 1000, sha256: '' };
    const bomb = Bun.gzipSync(new Uint8Array(16 * 1024 * 1024));
    writeFileSync(file, Buffer.concat([Buffer.from(JSON.stringify(header).padEnd(1024)), bomb]));
    await expect(readBackupFile(file, target)).rejects.toThrow('is damaged');
    expect(statSync(target).size).toBeLessThan(1024 * 1024);
  });

  test('that exists is never replaced by a backup', async () => {
    const file = newFile();
    writeFileSync(file, 'mine');
    await expect(backUp(await filledPlace('sqlite'), file, HALYARD)).rejects.toThrow(
      'exists: choose another name',
    );
    // Also where it came to be while the copy was taken.
    await expect(writeBackupFile(file, file, ORIGIN)).rejects.toThrow('choose another name');
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('that cannot be read again does not stay', async () => {
    const [file, database] = [newFile(), newFile()];
    writeFileSync(database, 'the contents');
    // So long that the header reaches into the contents.
    const origin = { ...ORIGIN, halyard: 'x'.repeat(1024) };
    await expect(writeBackupFile(file, database, origin)).rejects.toThrow('is not a backup');
    expect(existsSync(file)).toBe(false);
  });

  test('of a damaged database is not made', async () => {
    const [place, file] = [await filledPlace('sqlite'), newFile()];
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
