import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { digestOf } from '../../packages/server/src/domain/secret.ts';

/** The last row of a table, as many times as asked for. */
interface Copies {
  readonly table: string;
  readonly count: number;
  /** By column: an SQL expression over `n`, from 1, and the columns of the row that is copied. */
  readonly columns: Readonly<Record<string, string>>;
}

/**
 * Adds log rows to the file of a stopped node: copies of its last change of a flag, one row of the change log and one of
 * the audit log each, as if that flag's environment had been changed so many times. The API would take an hour for a
 * million. Returns the size of the file in bytes.
 */
export function addLogRows(dataFolder: string, count: number): number {
  using database = open(dataFolder);
  const { seq } = one<{ seq: number }>(database, 'SELECT seq FROM feed');
  const at = 'at + n';

  database.transaction(() => {
    copy(database, {
      table: 'change_log',
      count,
      columns: { seq: `${seq} + n`, change_id: `'copy-' || n`, revision: 'revision + n', at },
    });
    copy(database, {
      table: 'audit_log',
      count,
      columns: {
        id: `'copy-' || n`,
        seq: `${seq} + n`,
        operation_seq: `${seq} + n`,
        actor: `'person' || (n % 10) || '@example.com'`,
        target: `printf('flag-%05d', n % 100)`,
        note: `CASE n % 50 WHEN 0 THEN 'ticket ' || n END`,
        at,
      },
    });

    database.run('UPDATE feed SET seq = seq + ?', [count]);
    database.run(
      `UPDATE environments SET revision = revision + ?
        WHERE id = (SELECT environment_id FROM change_log ORDER BY seq DESC LIMIT 1)`,
      [count],
    );
  })();

  // On disk now: otherwise the node's first checkpoint would wait for all of it, and a change for that.
  database.run('PRAGMA synchronous = FULL');
  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
  return Bun.file(join(dataFolder, 'halyard.db')).size;
}

/** Adds project keys to the file of a stopped node: copies of its last one, each with a secret of its own. */
export function addKeys(dataFolder: string, secrets: readonly string[], expiresAt?: number): void {
  using database = open(dataFolder);
  database.transaction(() => {
    // The digests are not to be had from SQL, so they pass through a table that is gone at the end.
    database.run('CREATE TEMP TABLE digests (n INTEGER PRIMARY KEY, digest TEXT NOT NULL)');
    const insert = database.prepare('INSERT INTO digests VALUES (?, ?)');
    for (const [index, secret] of secrets.entries()) insert.run(index + 1, digestOf(secret));
    copy(database, {
      table: 'project_keys',
      count: secrets.length,
      columns: {
        id: `'copy-' || n`,
        name: `'key ' || n`,
        digest: '(SELECT digest FROM digests WHERE digests.n = numbers.n)',
        ...(expiresAt !== undefined && { expires_at: `${expiresAt} + n` }),
      },
    });
  })();
}

function open(dataFolder: string): Database {
  const database = new Database(join(dataFolder, 'halyard.db'), { readwrite: true });
  database.run('PRAGMA synchronous = OFF');
  // A quarter of a GiB: the indexes of a million rows are not read back from the file for each row.
  database.run('PRAGMA cache_size = -262144');
  return database;
}

/** Columns that are not named keep the value of the copied row, so that a column added later does not break this. */
function copy(database: Database, { table, count, columns }: Copies): void {
  const names = database
    .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => name);
  const values = names.map((name) => columns[name] ?? name);
  database.run(
    `INSERT INTO ${table} (${names.join(', ')})
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
      SELECT ${values.join(', ')} FROM numbers, (SELECT * FROM ${table} ORDER BY rowid DESC LIMIT 1) WHERE n <= ?1`,
    [count],
  );
}

function one<Row>(database: Database, text: string): Row {
  const row = database.query<Row, []>(text).get();
  if (row === null) throw new Error(`no row: ${text}`);
  return row;
}
