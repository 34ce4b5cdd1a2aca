import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform, type TransformCallback, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { isRecord } from '@halyard/protocol';
import { StorageError } from '../domain/errors.ts';

/** The header at the start of a backup: one line of JSON, padded with blanks. A gzipped SQLite file follows. */
const HEADER_BYTES = 1024;
const FORMAT = 'halyard backup';
const FORMAT_VERSION = 1;

/** The origin of a backup. */
export interface BackupOrigin {
  /** When the copy was taken, in ISO 8601. */
  readonly createdAt: string;
  /** The version of the program that wrote it. */
  readonly halyard: string;
  readonly engine: 'sqlite' | 'postgres';
  /** The version of the schema of the copy. */
  readonly schema: number;
  /** The end of the change log in the copy. */
  readonly epoch: string;
  readonly seq: number;
}

/** The header of a backup. */
export interface BackupHeader extends BackupOrigin {
  /** The size and SHA-256 of the SQLite file inside. */
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Writes a backup from a closed SQLite file: mode 0600, on the disk, and read again to verify it. The file appears under its name
 * only when it is complete. Rejects with {@link StorageError} when the name is taken or nothing can be written there.
 */
export async function writeBackupFile(
  path: string,
  database: string,
  origin: BackupOrigin,
): Promise<BackupHeader> {
  const partial = partialFile(path);
  try {
    const header = await writePartial(partial, database, origin);
    await readBackupFile(partial);
    // Unlike a rename, a link never replaces a file.
    await link(partial, path);
    await syncFolder(dirname(path));
    return header;
  } catch (error) {
    throw explained(error, path);
  } finally {
    await rm(partial, { force: true });
  }
}

/** An unused name beside a file, for one that is not complete yet. */
export function partialFile(path: string): string {
  return `${path}.partial-${randomUUID().slice(0, 8)}`;
}

async function writePartial(path: string, database: string, origin: BackupOrigin): Promise<BackupHeader> {
  await using file = await open(path, 'wx', 0o600);
  await file.write(' '.repeat(HEADER_BYTES), 0);
  const digest = new Digest();
  await pipeline(createReadStream(database), digest, createGzip(), appendTo(file, HEADER_BYTES));
  const header = { ...origin, bytes: digest.bytes, sha256: digest.sha256() };
  const line = JSON.stringify({ format: FORMAT, version: FORMAT_VERSION, ...header });
  await file.write(`${line.padEnd(HEADER_BYTES - 1)}\n`, 0);
  await file.sync();
  return header;
}

/** A sink that writes to an open file and leaves it open. */
function appendTo(file: FileHandle, start: number): Writable {
  let position = start;
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      file.write(chunk, 0, chunk.byteLength, position).then(() => done(), done);
      position += chunk.byteLength;
    },
  });
}

/**
 * Reads a backup and verifies its checksum. Writes the SQLite file inside to `target` (mode 0600), a name that is not
 * taken; without `target`, only verifies. Rejects with {@link StorageError} for a file that is no backup, is damaged, or was
 * written in a newer format.
 */
export async function readBackupFile(path: string, target?: string): Promise<BackupHeader> {
  try {
    const header = await readHeader(path);
    const digest = new Digest(header.bytes);
    await pipeline(
      createReadStream(path, { start: HEADER_BYTES }),
      createGunzip(),
      digest,
      target === undefined ? discard() : createWriteStream(target, { flags: 'wx', mode: 0o600 }),
    );
    if (digest.bytes !== header.bytes || digest.sha256() !== header.sha256) throw damaged(path);
    return header;
  } catch (error) {
    throw isGzipError(error) ? damaged(path, error) : explained(error, path);
  }
}

async function readHeader(path: string): Promise<BackupHeader> {
  await using file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  const marked = parseHeader(buffer.toString('utf8', 0, bytesRead));
  if (marked === undefined) throw new StorageError(`${path} is not a backup of Halyard.`);
  const { format: _mark, version, ...header } = marked;
  if (version !== FORMAT_VERSION) {
    throw new StorageError(
      `${path} was written by a newer Halyard (${header.halyard}): restore it with that version.`,
    );
  }
  // It bounds what is unpacked.
  if (!Number.isSafeInteger(header.bytes)) throw damaged(path);
  return header;
}

function parseHeader(
  text: string,
): (BackupHeader & { readonly format: unknown; readonly version: unknown }) | undefined {
  try {
    const data: unknown = JSON.parse(text);
    // `BackupHeader`: the mark says that this program wrote it.
    return isRecord(data) && data.format === FORMAT ? (data as never) : undefined;
  } catch {
    return undefined;
  }
}

/** Passes bytes on and takes their SHA-256. Fails beyond `limit` bytes. */
class Digest extends Transform {
  bytes = 0;
  readonly #hash = createHash('sha256');
  readonly #limit: number;

  constructor(limit = Number.POSITIVE_INFINITY) {
    super();
    this.#limit = limit;
  }

  sha256(): string {
    return this.#hash.digest('hex');
  }

  override _transform(chunk: Uint8Array, _encoding: string, done: TransformCallback): void {
    this.bytes += chunk.byteLength;
    this.#hash.update(chunk);
    // Too long cannot match, so the rest need not be unpacked.
    if (this.bytes > this.#limit) done(Object.assign(new Error('too long'), { code: 'Z_TOO_LONG' }));
    else done(null, chunk);
  }
}

function discard(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

/** Makes a new name in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}

function damaged(path: string, cause?: unknown): StorageError {
  return new StorageError(`${path} is damaged: its contents do not match its checksum. Use another backup.`, {
    cause,
  });
}

function isGzipError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'a file with this name exists: choose another name',
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user has no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is a file',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};

/**
 * Names a disk that is full, or fails, while a backup or a database is written in `folder`; returns any other error as it is.
 */
export function diskTrouble(error: unknown, folder: string): unknown {
  const code = codeIn(error);
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code))
    return new StorageError(`No space left in ${folder}: free some space there, or use another folder.`, {
      cause: error,
    });
  if (/^(SQLITE_IOERR|EIO)/.test(code))
    return new StorageError(
      `A disk reports errors (${code}): check the one of the database and the one of ${folder}.`,
      { cause: error },
    );
  return error;
}

/** The code of an error or of what caused it; empty without one. */
function codeIn(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error ? String(error.code) : codeIn(error.cause);
}

function explained(error: unknown, path: string): unknown {
  if (error instanceof StorageError || !(error instanceof Error) || !('code' in error)) return error;
  const reason = REASONS[String(error.code)];
  return reason === undefined
    ? error
    : new StorageError(`${path} cannot be used: ${reason}.`, { cause: error });
}
