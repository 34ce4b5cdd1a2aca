import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../domain/errors.ts';

/** The file in the data folder with the token for the command line on the same machine. */
export const ADMIN_TOKEN_FILE = 'admin-token';

/**
 * Reads the administration token from the data folder, or creates it on the first start, readable by its owner only.
 * Rejects with `StorageError` when the folder or the file cannot be used.
 */
export function adminTokenIn(dataFolder: string, newToken: () => string): string {
  const path = join(dataFolder, ADMIN_TOKEN_FILE);
  explain(`The data folder ${dataFolder} cannot be created`, 'Choose another one with --data.', () =>
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 }),
  );
  return (
    readToken(path) ??
    explain(
      `The data folder ${dataFolder} cannot be written`,
      'Let this user write there, or choose another one with --data.',
      () => writeToken(path, newToken()),
    )
  );
}

/** `undefined` when there is no token yet. */
function readToken(path: string): string | undefined {
  const file = openToken(path);
  if (file === undefined) return undefined;
  try {
    const token = explain(`${path} cannot be read`, INSTEAD, () => readFileSync(file, 'utf8').trim());
    restrict(file, path);
    if (token === '') return undefined;
    if (TOKEN.test(token)) return token;
    throw new StorageError(
      `${path} must hold at least 16 printable ASCII characters without spaces. Remove the file, and the next start creates a new one.`,
    );
  } finally {
    closeSync(file);
  }
}

/** The same as for the setting `adminToken`. */
const TOKEN = /^[\x21-\x7e]{16,}$/;

/** Links are not followed: the mode and content of another file are not ours to use. */
function openToken(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    if (code !== 'ELOOP') throw unusable(`${path} cannot be read`, INSTEAD, error);
    throw new StorageError(`${path} is a symbolic link. ${INSTEAD}`, { cause: error });
  }
}

const INSTEAD = 'To use a token in another file, set --admin-token-file or HALYARD_ADMIN_TOKEN_FILE.';

/** The token grants full access, so other users must not read the file. */
function restrict(file: number, path: string): void {
  if ((fstatSync(file).mode & 0o077) === 0) return;
  explain(
    `Other users can read ${path}, and its mode cannot be changed`,
    `Run chmod 600 ${path} as its owner.`,
    () => fchmodSync(file, 0o600),
  );
}

/** Returns the token that is in the file afterwards: another process may have written it first. */
function writeToken(path: string, token: string): string {
  const own = `${path}.${crypto.randomUUID()}`;
  try {
    writeFileSync(own, `${token}\n`, { mode: 0o600 });
    return tryLink(own, path) ? token : (readToken(path) ?? rename(own, path, token));
  } finally {
    rmSync(own, { force: true });
  }
}

/** A hard link fails if the name is taken, and the file it names is complete from the start. */
function tryLink(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch {
    // The name is taken, or the file system has no links: the caller finds out which.
    return false;
  }
}

function rename(own: string, path: string, token: string): string {
  renameSync(own, path);
  return token;
}

/** Runs `work`, and turns an error into what failed and what to do instead. */
function explain<T>(what: string, advice: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof StorageError ? error : unusable(what, advice, error);
  }
}

function unusable(what: string, advice: string, cause: unknown): StorageError {
  const code = codeOf(cause);
  return new StorageError(`${what} (${REASONS[code] ?? code}). ${advice}`, { cause });
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file has that name',
  EISDIR: 'it is a folder',
};

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
