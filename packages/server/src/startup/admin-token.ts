import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../storage/storage-error.ts';

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

function writeToken(path: string, token: string): string {
  writeFileSync(path, `${token}\n`, { mode: 0o600 });
  return token;
}
