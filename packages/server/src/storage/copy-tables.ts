import type { Parameter, Queryable } from './database.ts';

/** A table of our schema. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns of the primary key, in order, or others that tell its rows apart. */
  readonly key: readonly string[];
}

/** What tells the rows of a table without a primary key apart, on SQLite: nothing reads audit entries by their id alone. */
const KEYS: Readonly<Record<string, readonly string[]>> = { audit_log: ['seq', 'position', 'id'] };

/** The version of the schema is in this table, which migrations alone write. */
const SCHEMA_TABLE = 'halyard_schema';

/** All tables of an SQLite database, referenced ones before those that refer to them where the schema is ours. */
export async function listTables(sqlite: Queryable): Promise<Table[]> {
  const names = await sqlite.query<{ name: string }>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> $1 AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
    [SCHEMA_TABLE],
  );
  return await Promise.all(names.map(({ name }) => describeTable(sqlite, name)));
}

async function describeTable(sqlite: Queryable, name: string): Promise<Table> {
  const columns = await sqlite.query<{ name: string; pk: number }>(
    'SELECT name, pk FROM pragma_table_info($1) ORDER BY cid',
    [name],
  );
  const primary = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  return {
    name,
    columns: columns.map((each) => each.name),
    key: KEYS[name] ?? primary.map((each) => each.name),
  };
}

/** Rows of one read: begins small and grows while pages are light, because one row may have 32 MB. */
const PAGE = { first: 16, most: 1024, lightBytes: 256 * 1024, heavyBytes: 4 * 1024 * 1024 } as const;

/** Parameters of one statement; the engines allow 32,766 and 65,535. */
const MAX_PARAMETERS = 10_000;

/** Copies all rows of a table. Both sides have the same columns; the target's table is empty. */
export async function copyTable(source: Queryable, target: Queryable, table: Table): Promise<void> {
  let size: number = PAGE.first;
  let last: Row | undefined;
  for (;;) {
    const rows = await readPage(source, table, { after: last, size });
    for (const batch of batchesOf(rows, table)) await insert(target, table, batch);
    last = rows.at(-1);
    if (rows.length < size || last === undefined) return;
    const bytes = rows.reduce((sum, row) => sum + weightOf(row), 0);
    if (bytes > PAGE.heavyBytes) size = Math.max(1, size >> 2);
    else if (bytes < PAGE.lightBytes) size = Math.min(PAGE.most, size * 2);
  }
}

type Row = Readonly<Record<string, Parameter>>;

function readPage(
  source: Queryable,
  { name, columns, key }: Table,
  { after, size }: { readonly after: Row | undefined; readonly size: number },
): Promise<Row[]> {
  const order = listOf(key);
  const bounds = after === undefined ? [] : key.map((column) => after[column] ?? null);
  const where = after === undefined ? '' : `WHERE (${order}) > (${placeholders(bounds.length)})`;
  return source.query<Row>(
    `SELECT ${listOf(columns)} FROM ${name} ${where} ORDER BY ${order} LIMIT ${size}`,
    bounds,
  );
}

function* batchesOf(rows: readonly Row[], { columns }: Table): Generator<readonly Row[]> {
  const most = Math.floor(MAX_PARAMETERS / columns.length);
  for (let start = 0; start < rows.length; start += most) yield rows.slice(start, start + most);
}

async function insert(target: Queryable, { name, columns }: Table, rows: readonly Row[]): Promise<void> {
  const tuples = rows.map((_row, index) => `(${placeholders(columns.length, index * columns.length)})`);
  const values = rows.flatMap((row) => columns.map((column) => row[column] ?? null));
  await target.query(`INSERT INTO ${name} (${listOf(columns)}) VALUES ${tuples.join(', ')}`, values);
}

function weightOf(row: Row): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 8),
    0,
  );
}

function placeholders(count: number, offset = 0): string {
  return Array.from({ length: count }, (_, index) => `$${offset + index + 1}`).join(', ');
}

/** Names in quotes: `position` and `before` are words of SQL. */
function listOf(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ');
}
