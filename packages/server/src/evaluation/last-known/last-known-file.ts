import files from 'node:fs/promises';
import { join } from 'node:path';
import type { Cursor, Snapshot } from '../../domain/change-log.ts';
import { digestOf } from '../../domain/secret.ts';
import { MessageReader } from '../log/framing.ts';
import { LogProtocolError } from '../log/messages.ts';
import { SnapshotBuilder } from '../log/snapshot-parts.ts';

/** The name of the file in the data folder. */
const FILE_NAME = 'last-known-flags';

/** The version of the format. */
export const LAST_KNOWN_VERSION = 1;

/** Bytes in front of the snapshot: the time of the last proof on a line of its own, and a record that names the rest. */
export const HEADER_BYTES = 1024;

/** Digits of the time of the last proof, in epoch milliseconds. */
const PROOF_DIGITS = 13;

/** Where last known flags are kept, and of what. */
export interface LastKnownPlace {
  readonly path: string;
  /** Name the source of the flags, which may have several addresses; those of another source are never served. */
  readonly origins: readonly string[];
}

/** The record in the header of the file. */
export interface LastKnownHeader {
  readonly format: 'halyard-last-known-flags';
  readonly version: number;
  readonly origin: string;
  /** All names of the source; absent in files of older versions. */
  readonly origins?: readonly string[];
  readonly cursor: Cursor;
  /** When it was written, in epoch milliseconds. */
  readonly savedAt: number;
  /** Length and SHA-256 of what follows the header. */
  readonly bytes: number;
  readonly sha256: string;
}

/** What a node served last. */
export interface LastKnown {
  readonly snapshot: Snapshot;
  /** When it was last proven current, in epoch milliseconds. */
  readonly provenAt: number;
}

/** The file cannot be used. The message completes "The last known flags are ignored: the file …". */
export class LastKnownError extends Error {
  override readonly name = 'LastKnownError';
}

/** The place of the last known flags of a source, in a data folder. Names of it may hold secrets: only digests are kept. */
export function lastKnownPlace(dataFolder: string, ...names: readonly string[]): LastKnownPlace {
  return { path: join(dataFolder, FILE_NAME), origins: names.map((name) => digestOf(name).slice(0, 32)) };
}

/** The first line: the time of the last proof, rewritten in place while nothing changes, and a checksum of it and the record. */
export function proofLine(provenAt: number, record: string): string {
  const time = String(Math.max(0, Math.floor(provenAt))).padStart(PROOF_DIGITS, '0');
  const checksum = Bun.hash.crc32(`${time}\n${record}`);
  return `${time} ${checksum.toString(16).padStart(8, '0')}`;
}

/** Reads the file; `undefined` if it does not exist. Throws a {@link LastKnownError} if it cannot be used. */
export async function readLastKnown(place: LastKnownPlace, now: number): Promise<LastKnown | undefined> {
  const file = await load(place.path);
  if (file === undefined) return undefined;
  const { header, provenAt } = parseHeader(file.subarray(0, HEADER_BYTES));
  const origins = header.origins ?? [header.origin];
  if (!origins.some((each) => place.origins.includes(each)))
    throw new LastKnownError('has the flags of another source');
  const body = file.subarray(HEADER_BYTES);
  const isWhole = body.length === header.bytes && Bun.SHA256.hash(body, 'hex') === header.sha256;
  if (!isWhole) throw new LastKnownError('is damaged');
  // A time in the future says nothing about the age.
  const isPlausible = provenAt >= header.savedAt && provenAt <= now;
  return {
    snapshot: parseBody(body),
    provenAt: isPlausible ? provenAt : Math.min(header.savedAt, now),
  };
}

async function load(path: string): Promise<Buffer | undefined> {
  try {
    return await files.readFile(path);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new LastKnownError('cannot be read', { cause });
  }
}

function parseHeader(bytes: Buffer): { readonly header: LastKnownHeader; readonly provenAt: number } {
  const [proof = '', text = ''] = bytes.toString('latin1').split('\n');
  let header: Partial<LastKnownHeader>;
  try {
    header = JSON.parse(text);
  } catch (cause) {
    throw new LastKnownError('is damaged, or not of Halyard', { cause });
  }
  if (header.format !== 'halyard-last-known-flags') throw new LastKnownError('is not of Halyard');
  if (header.version !== LAST_KNOWN_VERSION)
    throw new LastKnownError(`has version ${header.version}, and this program reads ${LAST_KNOWN_VERSION}`);

  const provenAt = Number(proof.slice(0, PROOF_DIGITS));
  // Without a checksum: an earlier version wrote it.
  const isWhole = /^\d{13}$/.test(proof) || proof === proofLine(provenAt, text);
  if (!isWhole || typeof header.savedAt !== 'number') throw new LastKnownError('is damaged');
  // Each other member is checked where it is used.
  return { header: header as LastKnownHeader, provenAt };
}

function parseBody(body: Buffer): Snapshot {
  const builder = new SnapshotBuilder();
  try {
    for (const message of new MessageReader().read(body)) {
      if (message.type === 'snapshot') builder.add(message);
      else if (message.type === 'snapshot-end') return builder.finish(message);
      else break;
    }
  } catch (cause) {
    if (!(cause instanceof LogProtocolError)) throw cause;
    throw new LastKnownError('is damaged', { cause });
  }
  throw new LastKnownError('is damaged');
}
