import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StorageError } from '../domain/errors.ts';
import { type BackupHeader, writeBackupFile } from './backup-file.ts';
import type { OpenDatabase, Queryable } from './database.ts';
import {
  type Contents,
  type Copied,
  copyAll,
  type DatabasePlace,
  FLEETING,
  finishCopy,
  withTemporaryFile,
} from './database-copy.ts';
import { openSqlite } from './engines/sqlite.ts';
import { acceptedVersion, databaseFile, migrate, openPostgresEngine } from './schema.ts';

/**
 * Takes a consistent copy of a database while nodes use it, and writes it to `file`. Rejects with {@link StorageError}, in words for the
 * operator.
 */
export async function backUp(
  place: DatabasePlace,
  file: string,
  { halyard }: { readonly halyard: string },
): Promise<{ readonly header: BackupHeader; readonly contents: Contents }> {
  if (existsSync(file)) throw new StorageError(`${file} exists: choose another name.`);
  if (!existsSync(dirname(file))) throw new StorageError(`The folder ${dirname(file)} does not exist.`);

  await using source = await openPlace(place);
  return await withTemporaryFile(file, async (copyPath) => {
    const createdAt = new Date().toISOString();
    const facts = await (source.database.engine === 'sqlite'
      ? copySqlite(source.database, copyPath)
      : copyPostgres(source.database, copyPath));
    const { contents, ...end } = facts;
    const origin = { createdAt, halyard, engine: source.database.engine, ...end };
    return { header: await writeBackupFile(file, copyPath, origin), contents };
  });
}

/** Opens an existing database as it is, without migrating it. */
async function openPlace({
  data,
  databaseUrl,
}: DatabasePlace): Promise<AsyncDisposable & { database: OpenDatabase }> {
  const path = databaseFile(data);
  if (databaseUrl === undefined && !existsSync(path)) {
    throw new StorageError(`There is no database in ${data}: name the data folder of the node with --data.`);
  }
  const database = await (databaseUrl === undefined
    ? openSqlite({ path })
    : openPostgresEngine({ url: databaseUrl, poolSize: 1 }));
  return { database, [Symbol.asyncDispose]: () => database.close() };
}

async function copySqlite(source: OpenDatabase, path: string): Promise<Copied> {
  await usedVersion(source, source);
  // SQLite takes an empty file, which keeps its mode.
  await (await open(path, 'wx', 0o600)).close();
  await source.query('VACUUM INTO $1', [path]);
  const copy = await openSqlite({ path });
  return await finishCopy(copy, path);
}

async function copyPostgres(source: OpenDatabase, path: string): Promise<Copied> {
  const copy = await openSqlite({ path });
  await source.snapshot(async (reader) => {
    await migrate(copy, { upTo: await usedVersion(source, reader) });
    await copyAll(reader, copy, FLEETING);
  }, 'load');
  return await finishCopy(copy, path);
}

async function usedVersion(database: OpenDatabase, reader: Queryable): Promise<number> {
  const version = await acceptedVersion(database, reader);
  if (version === 0) throw new StorageError('The database is empty: Halyard has never used it.');
  return version;
}
