import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StorageError } from '../domain/errors.ts';
import { diskTrouble, partialFile } from './backup-file.ts';
import { copyTable, listTables } from './copy-tables.ts';
import type { OpenDatabase, Queryable } from './database.ts';
import { acceptedVersion } from './schema.ts';

/** The database of an installation: a PostgreSQL where `databaseUrl` is set, else the SQLite file in the data folder. */
export interface DatabasePlace {
  readonly data: string;
  readonly databaseUrl?: string | undefined;
}

/** What SQLite keeps beside a database file. */
export const LEFTOVERS = ['-wal', '-shm', '-journal'] as const;

/** How much there is in a database. */
export interface Contents {
  readonly projects: number;
  readonly environments: number;
  readonly flags: number;
}

/** Tables with what only a running installation needs, which no backup holds. */
export const FLEETING = new Set([
  'sessions',
  'sign_in_failures',
  'used_sign_ons',
  'stream_presence',
  'delivery_receipts',
]);

/** What a finished copy holds. */
export interface Copied {
  readonly schema: number;
  readonly epoch: string;
  readonly seq: number;
  readonly contents: Contents;
}

/** Copies every table in one transaction into an SQLite or PostgreSQL database of the same schema. */
export async function copyAll(
  source: Queryable,
  target: OpenDatabase,
  except: ReadonlySet<string> = new Set(),
): Promise<void> {
  const tables = await listTables(target.engine === 'sqlite' ? target : source);

  await target.transaction(async (transaction) => {
    // Also lifts the time limits of ordinary writes.
    await transaction.lockForMigration();
    for (const { name } of [...tables].reverse()) await transaction.query(`DELETE FROM ${name}`);

    for (const table of tables) {
      if (!except.has(table.name)) await copyTable(source, transaction, table);
    }
  });
}

/** Verifies a copy and closes it: one file, without a log beside it. */
export async function finishCopy(copy: OpenDatabase, path: string): Promise<Copied> {
  try {
    await copy.query('PRAGMA secure_delete = ON');
    for (const { name } of await listTables(copy))
      if (FLEETING.has(name)) await copy.query(`DELETE FROM ${name}`);

    const checks = await copy.query<{ integrity_check: string }>('PRAGMA integrity_check');
    if (checks.length !== 1 || checks[0]?.integrity_check !== 'ok') {
      throw new StorageError(
        `The copy ${path} is damaged, as its database may be: ${checks[0]?.integrity_check}.`,
      );
    }

    const [end] = await copy.query<{ epoch: string; seq: number }>(
      'SELECT epoch, seq FROM feed WHERE id = 1',
    );
    if (end === undefined) throw new StorageError('The database has lost the position of its log.');

    const schema = await acceptedVersion(copy, copy);
    const contents = await countContents(copy);
    await copy.query('PRAGMA journal_mode = DELETE');
    return { schema, ...end, contents };
  } finally {
    await copy.close();
  }
}

async function countContents(database: Queryable): Promise<Contents> {
  const [counts] = await database.query<Contents>(`SELECT
    (SELECT count(*) FROM projects) AS projects,
    (SELECT count(*) FROM environments WHERE deleted_at IS NULL) AS environments,
    (SELECT count(*) FROM flags) AS flags`);
  if (counts === undefined) throw new StorageError('The database cannot be counted.');
  return counts;
}

/**
 * Runs `work` with an unused name beside `path`, and removes what is left there. All of its files are in that folder, so a disk
 * that fills up is that one's.
 */
export async function withTemporaryFile<T>(
  path: string,
  work: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = partialFile(path);
  try {
    return await work(temporary);
  } catch (error) {
    throw diskTrouble(error, dirname(path));
  } finally {
    for (const suffix of ['', ...LEFTOVERS]) await rm(temporary + suffix, { force: true });
  }
}
