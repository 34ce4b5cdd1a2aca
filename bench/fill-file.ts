import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { digestOf } from '../packages/server/src/domain/secret.ts';

/** The file of a stopped node, for more rows than the API would write in an hour. */
export interface NodeFile extends Disposable {
  /**
   * Adds rows: by column an SQL expression over `n`, from 0. With `like`, columns that are not named keep the value of
   * the table's last row, so that a column added later does not break this.
   */
  add(table: string, count: number, columns: Columns, options?: { like?: 'last' }): void;
  /** Runs a statement. */
  run(text: string, ...values: (string | number)[]): void;
  /** The first column of a query's only row. */
  value(text: string): number;
  /** Bytes of the file, all on disk. */
  size(): number;
}

/** An SQL expression for each column that is named. */
export type Columns = Readonly<Record<string, string>>;

/** The project key of a number. */
export function keyOf(index: number): string {
  return `proj_live_${String(index).padStart(43, 'k')}`;
}

/** Opens the file and one transaction, which ends with the block. */
export function openFile(dataFolder: string): NodeFile {
  const path = join(dataFolder, 'halyard.db');
  const database = new Database(path, { readwrite: true });
  database.run('PRAGMA synchronous = OFF');
  // A quarter of a GiB: the indexes of a million rows are not read back from the file for each row.
  database.run('PRAGMA cache_size = -262144');
  // SQL cannot compute digests, so they come from a temporary table.
  database.run('CREATE TEMP TABLE digests (n INTEGER PRIMARY KEY, digest TEXT NOT NULL)');
  database.run('BEGIN');

  const commit = () => {
    if (database.inTransaction) database.run('COMMIT');
  };
  return {
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
    size: () => {
      commit();
      // On disk now: otherwise the node's first checkpoint would wait for all of it, and a change for that.
      database.run('PRAGMA synchronous = FULL');
      database.run('PRAGMA wal_checkpoint(TRUNCATE)');
      return Bun.file(path).size;
    },
    [Symbol.dispose]: () => {
      commit();
      database.close();
    },
  };
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
