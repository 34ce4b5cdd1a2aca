import type { OpenDatabase } from '../database.ts';

/** A statement for both engines, or for one of them. */
export type MigrationStatement =
  | string
  | { readonly engine: OpenDatabase['engine']; readonly statement: string };

/**
 * What leads the schema from one version to the next. Only what both engines read: CREATE TABLE, CREATE INDEX, ADD COLUMN,
 * RENAME; TEXT, BIGINT; the collation C. The columns of a table are the same on both, its keys and indexes may differ.
 *
 * JSON is TEXT, because PostgreSQL's jsonb reorders members and refuses `\u0000`. Times are epoch milliseconds.
 */
export type MigrationStep = readonly MigrationStatement[];

/** A statement for SQLite alone. */
export const sqlite = (statement: string): MigrationStatement => ({ engine: 'sqlite', statement });
