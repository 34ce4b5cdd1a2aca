import files, { type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import type { Cursor, LogRow } from '../../domain/change-log.ts';
import { encodeSnapshot } from '../log/snapshot-parts.ts';
import type { ReadPlane, ReadPlaneObserver } from '../read-plane.ts';
import {
  HEADER_BYTES,
  LAST_KNOWN_VERSION,
  type LastKnownHeader,
  type LastKnownPlace,
  proofLine,
} from './last-known-file.ts';

/** How soon changes are written, in milliseconds. What was revoked is written at once; a snapshot may have some of it. */
const WITHIN_MS = { flags: 10_000, records: 1000, reloaded: 500, revoked: 0 } as const;

/** A write is followed by a pause of this many times its duration, so that it takes at most 5 % of the time. */
const PAUSE_FACTOR = 20;

/** The same where something was revoked: at most half of the time. */
const REVOKED_PAUSE_FACTOR = 1;

/** Pause after a write that failed, in milliseconds. */
const RETRY_MS = 5000;

type Change = keyof typeof WITHIN_MS;

/** Rows that take something away from readers. */
const REVOKING: ReadonlySet<string> = new Set([
  'key.revoked',
  'relay.revoked',
  'environment.deleted',
  'project.deleted',
]);

/** What systems answer that cannot sync a folder: then nothing more can be done for its names. */
const CANNOT_SYNC: ReadonlySet<unknown> = new Set([
  'EACCES',
  'EBADF',
  'EINVAL',
  'EISDIR',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EPERM',
]);

/** How often it is noted that nothing has changed, in milliseconds. */
const PROOF_MS = 5000;

/** Parts of a {@link LastKnownWriter}. */
export interface LastKnownWriterOptions {
  readonly place: LastKnownPlace;
  readonly plane: Pick<ReadPlane, 'catalog' | 'follower'>;
  readonly log: Logger;
  /** Pause after a write, in durations of it, unless something was revoked. */
  readonly pauseFactor?: number;
  /** Pause after a write that failed, in milliseconds. */
  readonly retryMs?: number;
}

/**
 * Keeps the newest state of a read plane in a file, with which it can start while its source is away. Only digests of
 * keys are in it. It is replaced as a whole, in small steps between which reads are answered, and not often.
 */
export class LastKnownWriter implements ReadPlaneObserver {
  readonly #options: LastKnownWriterOptions;
  readonly #proofTimer: Timer;
  #timer: Timer | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  /** What has changed since the last write began and presses most. */
  #pressing: Change | undefined;
  #lastWrite = { endedAt: 0, tookMs: 0 };
  #isWriting = false;
  #file: FileHandle | undefined;
  /** The record in its header. */
  #record = '';
  #work: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #isClosed = false;

  constructor(options: LastKnownWriterOptions) {
    this.#options = options;
    this.#proofTimer = setInterval(() => this.#queue(() => this.#noteProof()), PROOF_MS);
    this.#proofTimer.unref();
    this.#queue(() => this.#removeLeftovers());
  }

  /** A snapshot replaced the catalog. */
  loaded(): void {
    this.#schedule('reloaded');
  }

  /** A row was applied. */
  applied({ kind }: LogRow): void {
    if (kind === 'records.changed') return;
    this.#schedule(REVOKING.has(kind) ? 'revoked' : kind === 'flags.changed' ? 'flags' : 'records');
  }

  /** Writes the newest state, and stops. Never rejects. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#proofTimer);
    clearTimeout(this.#timer);
    this.#queue(() => this.#write());
    this.#queue(() => this.#noteProof());
    await this.#work;
    await this.#file?.close().catch(() => {});
    this.#file = undefined;
  }

  #press(change: Change): void {
    if (this.#pressing === undefined || WITHIN_MS[change] < WITHIN_MS[this.#pressing])
      this.#pressing = change;
  }

  #schedule(change: Change): void {
    this.#press(change);
    // The end of the write in progress says how long a pause it needs.
    if (this.#isClosed || this.#isWriting) return;
    const { pauseFactor = PAUSE_FACTOR } = this.#options;
    const factor = change === 'revoked' || change === 'reloaded' ? REVOKED_PAUSE_FACTOR : pauseFactor;
    const now = performance.now();
    const dueAt = Math.max(
      now + WITHIN_MS[change],
      this.#lastWrite.endedAt + factor * this.#lastWrite.tookMs,
    );
    if (dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#queue(() => this.#write()), dueAt - now);
    this.#timer.unref();
  }

  /** One step at a time; a failure is logged once until a step succeeds. */
  #queue(step: () => Promise<void>): void {
    this.#work = this.#work.then(step).then(
      () => {},
      (err: unknown) => {
        const level = this.#hasFailed ? 'debug' : 'warn';
        this.#hasFailed = true;
        this.#options.log[level](
          { err, path: this.#options.place.path },
          'the last known flags cannot be saved: this node cannot start without its source',
        );
      },
    );
  }

  async #write(): Promise<void> {
    const { retryMs = RETRY_MS, plane } = this.#options;
    const { cursor } = plane.follower;
    const change = this.#pressing;
    clearTimeout(this.#timer);
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (cursor === undefined || change === undefined) return;

    // Before the first proof, nothing says how old the flags are, and those of unknown age are never served. (Spec: S14.2)
    if (!Number.isFinite(plane.follower.sinceProofMs())) {
      this.#lastWrite = { endedAt: performance.now() + retryMs, tookMs: 0 };
      this.#schedule(change);
      return;
    }

    this.#pressing = undefined;
    this.#isWriting = true;
    const begunAt = performance.now();

    try {
      const file = await this.#replace(cursor);
      await this.#file?.close();
      this.#file = file;
      this.#hasFailed = false;
      const endedAt = performance.now();
      this.#lastWrite = { endedAt, tookMs: endedAt - begunAt };
    } catch (error) {
      this.#press(change);
      this.#lastWrite = { endedAt: performance.now() + retryMs, tookMs: 0 };
      if (change === 'revoked' || change === 'reloaded') await this.#discard();
      throw error;
    } finally {
      this.#isWriting = false;
      if (this.#pressing !== undefined) this.#schedule(this.#pressing);
    }
  }

  /** Removes a file that may open what has been taken away since, and that cannot be replaced now. (Spec: S14.9) */
  async #discard(): Promise<void> {
    const { log, place } = this.#options;
    try {
      await this.#file?.close();
      this.#file = undefined;
      await files.rm(place.path, { force: true });
      await syncNames(place.path);
    } catch (err) {
      const words =
        'the last known flags may open what has been revoked, and cannot be removed: remove the file';
      log.error({ err, path: place.path }, words);
    }
  }

  /** Writes the newest state beside the file, and renames it; returns the new file. */
  async #replace(cursor: Cursor): Promise<FileHandle> {
    const { place, plane } = this.#options;
    // Taken in one turn, so that they belong together; encoded and written in many.
    const [contents, provenAt] = [plane.catalog.contents(), Date.now() - plane.follower.sinceProofMs()];

    const path = `${place.path}.${process.pid}.tmp`;
    await files.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await files.open(path, 'w', 0o600);
    try {
      const hash = new Bun.CryptoHasher('sha256');
      let bytes = 0;
      for (const part of encodeSnapshot(cursor, contents)) {
        hash.update(part);
        await file.write(part, 0, part.length, HEADER_BYTES + bytes);
        bytes += part.length;
      }

      const header: LastKnownHeader = {
        format: 'halyard-last-known-flags',
        version: LAST_KNOWN_VERSION,
        origin: place.origins[0] ?? '',
        origins: place.origins,
        cursor,
        savedAt: Math.floor(provenAt),
        bytes,
        sha256: hash.digest('hex'),
      };

      const record = JSON.stringify(header);
      await file.write(headerText(record, provenAt), 0, 'latin1');
      await file.sync();
      await files.rename(path, place.path);
      await syncNames(place.path);
      this.#record = record;
      return file;
    } catch (error) {
      await file.close();
      await files.rm(path, { force: true });
      throw error;
    }
  }

  /**
   * Removes what processes left that were killed while they wrote. One that still writes, which shares the folder, then
   * fails to rename its file, and writes it again.
   */
  async #removeLeftovers(): Promise<void> {
    const { path } = this.#options.place;
    const names = await files.readdir(dirname(path)).catch(() => []);
    const leftovers = names.filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith('.tmp'));
    for (const name of leftovers) await files.rm(join(dirname(path), name), { force: true });
  }

  /** Notes in place that the file is still current. The handle belongs to the file that this process wrote, even if another is in its place now. */
  async #noteProof(): Promise<void> {
    const { follower } = this.#options.plane;
    if (this.#file === undefined || this.#pressing !== undefined || !follower.isLive) return;
    await this.#file.write(proofLine(Date.now() - follower.sinceProofMs(), this.#record), 0, 'latin1');
  }
}

/** Keeps the names in the folder of a file: without it, a loss of power may bring back the file of before. (Spec: S14.9) */
async function syncNames(path: string): Promise<void> {
  try {
    const folder = await files.open(dirname(path), 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && CANNOT_SYNC.has(error.code))) throw error;
  }
}

function headerText(record: string, provenAt: number): string {
  return `${proofLine(provenAt, record)}\n${record}\n`.padEnd(HEADER_BYTES);
}
