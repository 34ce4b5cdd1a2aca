import { SQLiteError, Database as Sqlite } from 'bun:sqlite';
import { accessSync, closeSync, constants, mkdirSync, openSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError } from '../../domain/errors.ts';
import { IN_MEMORY } from './file-identities.ts';
import { retryWhileBusy } from './sqlite-connection.ts';

/** Marks a database file as Halyard's: "HALY" in SQLite's `application_id`. */
const APPLICATION_ID = 0x48414c59;

/**
 * Opens the database file, creating it and its folder where missing, and checks that it belongs to Halyard and that a commit will
 * be on the disk when it is acknowledged. Rejects with {@link StorageError} when the file cannot be used.
 */
export async function openSqliteFile(path: string): Promise<Sqlite> {
  if (path !== IN_MEMORY) prepareFile(path);
  let sqlite: Sqlite | undefined;
  try {
    sqlite = new Sqlite(path, { readwrite: true, create: true, strict: true });
    await configure(sqlite, path);
    return sqlite;
  } catch (error) {
    sqlite?.close();
    throw explained(error, path);
  }
}

async function configure(sqlite: Sqlite, path: string): Promise<void> {
  // Short, because SQLite waits in the thread that serves requests. Longer waits happen outside, asynchronously.
  sqlite.run('PRAGMA busy_timeout = 5');
  // Each of these reads the file, if only its schema, and another process may be opening it just now.
  await retryWhileBusy(() => {
    checkVersion(pragma(sqlite, 'SELECT sqlite_version()'));
    claim(sqlite, path);
    useWriteAheadLog(sqlite, path);
    makeSafe(sqlite);
  });
}

function useWriteAheadLog(sqlite: Sqlite, path: string): void {
  const mode = pragma(sqlite, 'PRAGMA journal_mode = WAL');
  // The first read after that creates the log, whose identity is then known.
  pragma(sqlite, 'SELECT count(*) FROM sqlite_master');
  if (mode === 'wal' || path === IN_MEMORY) return;
  throw new StorageError(`SQLite cannot use a write-ahead log for ${path}: keep it on a local disk.`);
}

function makeSafe(sqlite: Sqlite): void {
  // Builds differ in what a reopened WAL database defaults to; at NORMAL a power cut loses acknowledged writes.
  sqlite.run('PRAGMA synchronous = FULL');
  sqlite.run('PRAGMA fullfsync = ON');
  sqlite.run('PRAGMA foreign_keys = ON');
  // Shrinks the log again after a burst of writes.
  sqlite.run('PRAGMA journal_size_limit = 67108864');
  if (pragma(sqlite, 'PRAGMA synchronous') === 2 && pragma(sqlite, 'PRAGMA foreign_keys') === 1) return;
  throw new StorageError(
    'This SQLite cannot be set to synchronous=FULL with foreign keys: use a standard build.',
  );
}

/** Refuses versions in which two connections that write and checkpoint at once can corrupt the file. */
export function checkVersion(version: unknown): void {
  const [major = 0, minor = 0, patch = 0] = String(version).split('.').map(Number);
  const fixedIn =
    minor === 50 ? 7 : minor === 44 ? 6 : minor === 51 ? 3 : minor > 51 ? 0 : Number.POSITIVE_INFINITY;
  if (major > 3 || (major === 3 && patch >= fixedIn)) return;
  throw new StorageError(
    `SQLite ${version} can corrupt a database in WAL mode: run Halyard on a Bun with SQLite 3.51.3 or later.`,
  );
}

/** Puts our mark on a new file, and refuses a file that holds something else. */
function claim(sqlite: Sqlite, path: string): void {
  const mark = pragma(sqlite, 'PRAGMA application_id');
  if (mark === APPLICATION_ID) return;
  if (mark !== 0 || pragma(sqlite, 'SELECT count(*) FROM sqlite_master') !== 0) {
    throw new StorageError(
      `${path} is the database of another program: name a file that does not exist yet, or one created by Halyard.`,
    );
  }
  sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`);
}

function prepareFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      throw new StorageError(`${path} is a folder: name a file in it, such as ${path}/halyard.db.`);
    }
    // Created here and not by SQLite, so that no other user can read it; its companion files take over the mode. A
    // file that exists must never be opened here: closing any descriptor of it drops all locks that this process has
    // on it through SQLite, and another program would then remove the write-ahead log under a running node.
    if (stat === undefined) closeSync(openSync(path, 'a', 0o600));
    else accessSync(path, constants.W_OK);
    refuseNetworkFileSystem(statfsSync(dirname(path)).type, path);
  } catch (error) {
    throw explained(error, path);
  }
}

/** File systems, by the number `statfs` returns, that are shared between hosts without the shared memory WAL needs. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
]);

/** Throws {@link StorageError} when `type`, a number from `statfs`, is that of a network file system. */
export function refuseNetworkFileSystem(type: number, path: string): void {
  const name = NETWORK_FILE_SYSTEMS.get(type >>> 0);
  if (name === undefined) return;
  throw new StorageError(
    `${path} is on a network file system (${name}), where SQLite can lose or corrupt data: ` +
      'use a local disk, or PostgreSQL to share one database between machines.',
  );
}

/** Advice for the operator, by error code of the operating system or of SQLite. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'this user cannot write there: change the owner of the folder (chown) or choose another folder'],
  ['EPERM', 'this user cannot write there: change the owner of the folder (chown) or choose another folder'],
  ['EROFS', 'the file system is read-only: mount it writable or choose another folder'],
  ['ENOSPC', 'the disk is full: free some space'],
  ['ENOTDIR', 'a part of the path is a file: choose another folder'],
  ['EEXIST', 'a part of the path is a file: choose another folder'],
  ['SQLITE_CANTOPEN', 'the file or its folder cannot be opened for writing: check who owns them'],
  [
    'SQLITE_NOTADB',
    'it is not an SQLite database: name a file that does not exist yet, or one created by Halyard',
  ],
  ['SQLITE_CORRUPT', 'the file is damaged: restore it from a backup'],
  ['SQLITE_FULL', 'the disk is full: free some space'],
  ['SQLITE_BUSY', 'another program keeps it locked: stop that program'],
]);

function explained(error: unknown, path: string): unknown {
  if (error instanceof StorageError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  const advice = ADVICE.get(code.startsWith('SQLITE_READONLY') ? 'EACCES' : code);
  if (advice === undefined && !(error instanceof SQLiteError)) return error;
  const reason = advice ?? `SQLite says "${error.message}" (${code})`;
  return new StorageError(`The database ${path} cannot be opened: ${reason}.`, { cause: error });
}

function pragma(sqlite: Sqlite, text: string): unknown {
  return sqlite.prepare(text).values()[0]?.[0];
}
