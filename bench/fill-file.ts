import { Database } from 'bun:sqlite';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../packages/server/src/domain/secret.ts';
import { STRETCH } from '../packages/server/src/storage/places.ts';

/** The file of a stopped node, for more rows than the API would write in an hour. */
export interface NodeFile {
  /**
   * Adds rows: by column an SQL expression over `n`, from 0. With `like`, columns that are not named keep the value of
   * the table's last row, so that a column added later does not break this.
   */
  add(table: string, count: number, columns: Columns, options?: { like?: 'last' }): void;
  /** Runs a statement. */
  run(text: string, ...values: (string | number)[]): void;
  /** The first column of a query's only row. */
  value(text: string): number;
}

/** An SQL expression for each column that is named. */
type Columns = Readonly<Record<string, string>>;

/** The project key of a number. */
export function keyOf(index: number): string {
  return `proj_live_${String(index).padStart(43, 'k')}`;
}

/** Changes the file in one transaction. */
export function changeFile(dataFolder: string, change: (file: NodeFile) => void): void {
  const path = join(dataFolder, 'halyard.db');
  const database = new Database(path, { readwrite: true });
  database.run('PRAGMA synchronous = OFF');
  // A quarter of a GiB: the indexes of a million rows are not read back from the file for each row.
  database.run('PRAGMA cache_size = -262144');
  // SQL cannot compute digests, so they come from a temporary table.
  database.run('CREATE TEMP TABLE digests (n INTEGER PRIMARY KEY, digest TEXT NOT NULL)');
  database.run('BEGIN');
  change({
    add(table, count, columns, { like } = {}) {
      const named = like === undefined ? Object.keys(columns) : columnsOf(database, table);
      const values = named.map((name) => columns[name] ?? name);
      const last = like === undefined ? '' : `, (SELECT * FROM ${table} ORDER BY rowid DESC LIMIT 1)`;
      database.run(
        `INSERT INTO ${table} (${named.join(', ')})
          WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1 - 1)
          SELECT ${values.join(', ')} FROM numbers${last} WHERE n < ?1`,
        [count],
      );
    },
    run: (text, ...values) => void database.run(text, values),
    value: (text) => Number(database.query(text).values()[0]?.[0]),
  });
  database.run('COMMIT');

  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();

  // On disk now: otherwise the node's first checkpoint would wait for all of it, and a change or a read for that. SQLite
  // itself would only wait for the pages of the last checkpoint.
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

function columnsOf(database: Database, table: string): string[] {
  const query = database.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`);
  return query.all().map(({ name }) => name);
}

/** What a digest column of row `n` takes for these secrets, in their order. */
export function digestsOf(file: NodeFile, secrets: readonly string[]): string {
  file.run('DELETE FROM digests');
  for (const [n, secret] of secrets.entries())
    file.run('INSERT INTO digests VALUES (?, ?)', n, digestOf(secret));
  return '(SELECT digest FROM digests WHERE digests.n = numbers.n)';
}

/** Adds copies of the file's last key with these secrets. They all expire, which is the harder case, but not soon. */
export function addKeys(file: NodeFile, secrets: readonly string[]): void {
  const columns = {
    id: `'copy-' || n`,
    name: `'key ' || n`,
    digest: digestsOf(file, secrets),
    expires_at: `${Date.now() + 86_400_000} + n`,
  };
  file.add('project_keys', secrets.length, columns, { like: 'last' });
}

/**
 * Adds copies of the last change of a flag, one row of the change log and one of the audit log each, as if that flag's
 * environment had been changed so many times.
 */
export function addLogRows(file: NodeFile, count: number): void {
  const seq = `${file.value('SELECT seq FROM feed')} + n + 1`;
  const copied = { seq, at: 'at + n' };
  const change = { ...copied, change_id: `'copy-' || n`, revision: 'revision + n + 1' };
  file.add('change_log', count, change, { like: 'last' });
  const entry = {
    ...copied,
    id: `'copy-' || n`,
    operation_seq: seq,
    actor: `'person' || (n % 10) || '@example.com'`,
    target: `printf('flag-%05d', n % 100)`,
    // The indexes leave out an entry where one before it in its stretch has the same environment and actor.
    repeated: `CASE WHEN n >= ${STRETCH} AND (${seq}) % ${STRETCH} >= 10 THEN 1 END`,
    note: `CASE n % 50 WHEN 0 THEN 'ticket ' || n END`,
  };
  file.add('audit_log', count, entry, { like: 'last' });

  file.run('UPDATE feed SET seq = seq + ?', count);
  file.run(
    `UPDATE environments SET revision = revision + ?
      WHERE id = (SELECT environment_id FROM change_log ORDER BY seq DESC LIMIT 1)`,
    count,
  );
}
