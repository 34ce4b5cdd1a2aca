import { membersOf } from '@halyard/protocol';
import { ServiceError } from '../domain/errors.ts';
import type { StateText } from '../domain/project.ts';
import { RawJson, writeJson } from '../domain/raw-json.ts';
import type { Parameter, Queryable, Statement } from './database.ts';

/** Rows that one statement carries: few round trips, and far below both engines' limits on parameters. */
export const ROWS_PER_STATEMENT = 200;

/** A column of rows to insert: its name, or a number with the SQL that makes it of the row's values, which it names by column. */
export type InsertColumn =
  | string
  | { readonly name: string; readonly value: (given: (column: string) => string) => string };

/** Where rows are inserted. Table and columns come from the program, never from outside. */
export interface Insert {
  readonly table: string;
  readonly columns: readonly InsertColumn[];
  /** SQL of a row that the values are made with; required where columns have SQL. The server finds it once in each statement. */
  readonly beside?: string;
  /** SQL after the values, such as an `ON CONFLICT` clause. */
  readonly suffix?: string;
}

/** Input of {@link insertRows}: one value per column in each row. */
export interface RowsToInsert extends Insert {
  readonly rows: readonly (readonly Parameter[])[];
}

/** Runs an INSERT that returns no row when something unique is taken, which is `already_exists`. */
export async function insertNew<Row>(
  queryable: Queryable,
  what: string,
  text: string,
  parameters: readonly Parameter[],
): Promise<Row> {
  const [row] = await queryable.query<Row>(text, parameters);
  if (row !== undefined) return row;
  throw new ServiceError('already_exists', `The ${what} already exists: choose another name.`);
}

/** Runs statements, in order. */
export async function runAll(queryable: Queryable, statements: Iterable<Statement>): Promise<void> {
  for (const { text, parameters } of statements) await queryable.query(text, parameters);
}

/** Inserts any number of rows, many in each statement. */
export async function insertRows(queryable: Queryable, insert: RowsToInsert): Promise<void> {
  await runAll(queryable, insertions(insert, insert.rows));
}

/** Rows of one statement: few sizes, so that a statement that was prepared can be used again. */
const SIZES = [ROWS_PER_STATEMENT, 32, 8, 2, 1] as const;

/** The statements that insert these rows. */
export function* insertions(insert: Insert, rows: RowsToInsert['rows']): Generator<Required<Statement>> {
  let start = 0;
  for (const size of SIZES) {
    for (; rows.length - start >= size; start += size) {
      yield { text: textOf(insert, size), parameters: rows.slice(start, start + size).flat() };
    }
  }
}

/** The texts of inserts that were made: their columns do not change. */
const TEXTS = new WeakMap<Insert, Map<number, string>>();

function textOf(insert: Insert, rows: number): string {
  const texts = TEXTS.get(insert) ?? new Map<number, string>();
  TEXTS.set(insert, texts);
  const text = texts.get(rows) ?? insertText(insert, rows);
  texts.set(rows, text);
  return text;
}

function insertText({ table, columns, beside, suffix = '' }: Insert, rows: number): string {
  const names = columns.map((column) => (typeof column === 'string' ? column : column.name));
  const tuples = Array.from({ length: rows }, (_, row) => {
    const values = columns.map((column, index) => {
      const parameter = `$${row * columns.length + index + 1}`;
      return typeof column === 'string' ? parameter : `CAST(${parameter} AS BIGINT)`;
    });
    return `(${values.join(', ')})`;
  });
  const into = `INSERT INTO ${table} (${names.join(', ')})`;
  if (beside === undefined) return `${into} VALUES ${tuples.join(', ')} ${suffix}`;

  // Both engines name the columns of VALUES so.
  const given = (name: string) => `column${names.indexOf(name) + 1}`;
  const made = columns.map((column) => (typeof column === 'string' ? given(column) : column.value(given)));
  return `${into} SELECT ${made.join(', ')} FROM ${beside}, (VALUES ${tuples.join(', ')}) AS given_rows ${suffix}`;
}

/** `$1, $2, …` for `count` parameters, numbered after the `before` ones that precede them. */
export function placeholders(count: number, before = 0): string {
  return Array.from({ length: count }, (_, index) => `$${before + index + 1}`).join(', ');
}

/** Cuts items into lists of at most `size`, keeping the order. */
export function* chunks<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let chunk: T[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** A record as its row has it: what is optional in the record is NULL in the row. */
export type NullableColumns<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K];
};

/** The record of a row: NULL columns become absent members. */
export function withoutNulls<T>(row: NullableColumns<T>): T {
  // `T`: its row type differs from it only in the NULLs, which are removed here.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}

/** A part of a list: at most `limit` items after a place in it, which has the values that the list is sorted by. */
export interface PageOf<Place> {
  readonly limit: number;
  /** Absent: from the beginning. */
  readonly after?: Place;
}

/** The rows that `text` selects with `owner` as its parameter, or a page of them and one more, in order of code points. */
export function pageRows<Row>(
  queryable: Queryable,
  text: string,
  owner: string,
  {
    order,
    page,
  }: { readonly order: readonly string[]; readonly page: PageOf<readonly string[]> | undefined },
): Promise<Row[]> {
  if (page === undefined) return queryable.query<Row>(text, [owner]);

  const columns = order.map((column) => `${column} COLLATE "C"`).join(', ');
  const after = page.after ?? order.map(() => '');
  return queryable.query<Row>(
    `${text} AND (${columns}) > (${placeholders(order.length, 2)}) ORDER BY ${columns} LIMIT $2`,
    [owner, page.limit + 1, ...after],
  );
}

/** Sorts by code units in place, here and not in SQL: the engines' collations differ. */
export function byText<T>(items: T[], text: (item: T) => string): T[] {
  return items.sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}

/**
 * Reads a list of texts from a column of JSON text. A damaged column is read as an empty list: the list
 * screens must work, so that people can find and repair it.
 */
export function parseTextList(column: unknown): readonly string[] {
  try {
    const list: unknown = JSON.parse(String(column));
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : [];
  } catch {
    // Not JSON: damaged.
    return [];
  }
}

/** Does the same as {@link parseTextList}; `undefined` for NULL. */
export function parseOptionalList(column: string | null): readonly string[] | undefined {
  return column === null ? undefined : parseTextList(column);
}

/** The states of an archived flag as one JSON text, each state as it was stored. */
export function writeArchivedStates(states: ArchivedStates): string {
  return writeJson(new Map([...states].map(([id, state]) => [id, new RawJson(state)])));
}

/** The states of an archived flag as they were, by environment id. */
export type ArchivedStates = ReadonlyMap<string, StateText>;

/** Reads what {@link writeArchivedStates} wrote; an absent or damaged text counts as no states. */
export function parseArchivedStates(text: string | undefined): ReadonlyMap<string, StateText> {
  if (text === undefined) return new Map();
  try {
    JSON.parse(text);
  } catch {
    // Damaged: the flag is restored without states, and they can be set again.
    return new Map();
  }
  return new Map(membersOf(text) ?? []);
}
