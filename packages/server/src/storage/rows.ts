import type { Parameter, Queryable } from './database.ts';

/** Rows that one statement carries: few round trips, and far below both engines' limits on parameters. */
const ROWS_PER_STATEMENT = 200;

/** What {@link insertRows} writes. */
export interface RowsToInsert {
  readonly table: string;
  readonly columns: readonly string[];
  /** One value per column in each row. */
  readonly rows: readonly (readonly Parameter[])[];
  /** SQL after the values, such as an `ON CONFLICT` clause. */
  readonly suffix?: string;
}

/** Inserts any number of rows, many in each statement. Table and columns come from the program, never from outside. */
export async function insertRows(queryable: Queryable, insert: RowsToInsert): Promise<void> {
  const { table, columns, suffix = '' } = insert;
  for (const rows of chunks(insert.rows, ROWS_PER_STATEMENT)) {
    const tuples = rows.map((row, index) => `(${placeholders(row.length, index * columns.length)})`);
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${tuples.join(', ')} ${suffix}`;
    await queryable.query(text, rows.flat());
  }
}

/** `$1, $2, …` for `count` parameters, numbered after the `before` ones that precede them. */
export function placeholders(count: number, before = 0): string {
  return Array.from({ length: count }, (_, index) => `$${before + index + 1}`).join(', ');
}

/** Cuts a list into lists of at most `size`, keeping the order. */
export function chunks<T>(items: readonly T[], size: number): readonly T[][] {
  const all: T[][] = [];
  for (let start = 0; start < items.length; start += size) all.push(items.slice(start, start + size));
  return all;
}
