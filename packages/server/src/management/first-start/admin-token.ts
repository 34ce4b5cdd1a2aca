import { chmodSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../../storage/storage-error.ts';

/** The file in the data folder that holds the token of the serving machine's own command line. */
export const ADMIN_TOKEN_FILE = 'admin-token';

/**
 * Reads the administration token from the data folder, or makes it on the first start: readable by its owner only.
 * Rejects with `StorageError` when the folder cannot be written.
 */
export function adminTokenIn(dataFolder: string, newToken: () => string): string {
  const path = join(dataFolder, ADMIN_TOKEN_FILE);
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
    return readToken(path) ?? writeToken(path, newToken());
  } catch (cause) {
    throw new StorageError(
      `The administration token ${path} cannot be read or written: give this user the folder, or set HALYARD_ADMIN_TOKEN.`,
      { cause },
    );
  }
}

function readToken(path: string): string | undefined {
  try {
    const token = readFileSync(path, 'utf8').trim();
    // Whoever loosened the file's mode gets it tightened again: the token opens everything.
    chmodSync(path, 0o600);
    return token === '' ? undefined : token;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Gives the token that is in the file afterwards: another process that starts in this folder may have been first. */
function writeToken(path: string, token: string): string {
  const own = `${path}.${crypto.randomUUID()}`;
  try {
    writeFileSync(own, `${token}\n`, { mode: 0o600 });
    return tryLink(own, path) ? token : (readToken(path) ?? rename(own, path, token));
  } finally {
    rmSync(own, { force: true });
  }
}

/** A link takes a name only where it is free, and the file it names is whole from the beginning. */
function tryLink(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch {
    // The name is taken, or this file system knows no links: the caller finds out which.
    return false;
  }
}

function rename(own: string, path: string, token: string): string {
  renameSync(own, path);
  return token;
}
