import { sharedPostgres, temporaryFolder } from '@halyard/testing';
import { storeReport } from '../nouns/code-references/code-reference-table.ts';
import { insertKey } from '../nouns/keys/key-table.ts';
import { listTables } from './copy-tables.ts';
import type { OpenDatabase } from './database.ts';
import type { DatabasePlace } from './database-copy.ts';
import { openSqlite } from './engines/sqlite.ts';
import { migrate, openDatabase } from './schema.ts';
import { SqlStore } from './store.ts';
import { ADA, changing, makeKey, seed } from './test-records.ts';

const REPORT = {
  report: { repository: 'r', commit: 'c', reportedAt: 1, reportedBy: 'token:ci' },
  flags: [{ key: 'flag-0', places: 1, files: 1, first: [{ path: 'ä b.ts', line: 1 }] }],
};

/** The program that makes the backups of tests. */
export const HALYARD = { halyard: '1.2.3' };

/** Places of databases, and files, in a folder of their own. */
export class BackupPlaces {
  readonly #folder = temporaryFolder();
  #count = 0;

  /** Removes the folder. */
  readonly remove = () => this.#folder.remove();

  /** A place of an engine without a database. */
  async empty(engine: string): Promise<DatabasePlace> {
    const data = this.#folder.file(`data-${++this.#count}`);
    if (engine === 'sqlite') return { data };
    return { data, databaseUrl: await (await sharedPostgres()).createDatabase() };
  }

  /** A name for a file. */
  file(): string {
    return this.#folder.file(`${++this.#count}.backup`);
  }

  /** A place with a project, changes, a key and texts that are awkward to copy. */
  async filled(engine: string): Promise<DatabasePlace> {
    const place = await this.empty(engine);
    await using database = await open(place);
    const store = new SqlStore(database);
    const keys = Array.from({ length: 40 }, (_, index) => `flag-${index}-ä'"\\`);
    const { project, environment } = await seed(store, keys);
    const states = keys.map((key, index): [string, string] => [
      key,
      `{"enabled":true,"value":${JSON.stringify('x'.repeat(index * 500))},"n":1.0}`,
    ]);
    await store.commit(ADA, changing(environment, ...states));
    await store.commit(ADA, (tx) => insertKey(tx, makeKey(project), 'digest-of-a-key'));
    await store.unlogged((tx) => storeReport(tx, project.id, REPORT));
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
}

/** Opens the database of a place. */
export async function open({ data, databaseUrl }: DatabasePlace): Promise<OpenDatabase & AsyncDisposable> {
  return disposable(
    await openDatabase({ data, ...(databaseUrl !== undefined && { databaseUrl }), databasePoolSize: 2 }),
  );
}

/** The database, which is closed at the end of its block. */
export function disposable(database: OpenDatabase): OpenDatabase & AsyncDisposable {
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

/** Every row of a place's tables, except what a restore changes on purpose. */
export async function dump(place: DatabasePlace): Promise<Record<string, unknown[]>> {
  await using database = await open(place);
  await using schema = disposable(await openSqlite({ path: ':memory:' }));
  await migrate(schema);
  const dumped: Record<string, unknown[]> = {};
  for (const { name, columns, key } of await listTables(schema)) {
    const rows = await database.query<Record<string, unknown>>(
      `SELECT ${columns.map((column) => `"${column}"`).join(', ')} FROM ${name}`,
    );
    const sorted = rows
      .map((row) => ({
        ...row,
        epoch: undefined,
        ...(name === 'environments' && { revision: 0, guarded: 0 }),
      }))
      .sort((a, b) => (rowKey(a, key) < rowKey(b, key) ? -1 : 1));
    dumped[name] = ['stream_presence', 'sessions'].includes(name) ? [] : sorted;
  }
  return dumped;
}

function rowKey(row: Record<string, unknown>, key: readonly string[]): string {
  return JSON.stringify(key.map((column) => row[column]));
}

/** The epoch of a place's log, and its greatest revision. */
export async function headOf(place: DatabasePlace): Promise<{ epoch: string; revision: number }> {
  await using database = await open(place);
  const [head] = await database.query<{ epoch: string; revision: number }>(
    'SELECT epoch, (SELECT max(revision) FROM environments) AS revision FROM feed',
  );
  if (head === undefined) throw new Error('the log has no end');
  return head;
}
