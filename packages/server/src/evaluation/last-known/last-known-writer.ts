import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { LogRow } from '../../domain/change-log.ts';
import { encodeSnapshot } from '../log/snapshot-parts.ts';
import type { ReadPlane, ReadPlaneObserver } from '../read-plane.ts';
import {
  HEADER_BYTES,
  LAST_KNOWN_VERSION,
  type LastKnownHeader,
  type LastKnownPlace,
  PROOF_DIGITS,
} from './last-known-file.ts';

/** Least time between two writes, in milliseconds: of changes of flags, and of everything else, such as a revoked key. */
const EVERY_MS = { flags: 10_000, records: 1000 } as const;

/** A write is followed by a pause of this many times its duration, so that it takes at most 5 % of the time. */
const PAUSE_FACTOR = 20;

/** How often it is noted that nothing has changed, in milliseconds. */
const PROOF_MS = 5000;

/** Parts of a {@link LastKnownWriter}. */
export interface LastKnownWriterOptions {
  readonly place: LastKnownPlace;
  readonly plane: Pick<ReadPlane, 'catalog' | 'follower'>;
  /** The scope of the upstream's log; absent where the source is a database. */
  readonly scope?: () => string | undefined;
  readonly log: Logger;
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
  #readyAt = 0;
  #file: FileHandle | undefined;
  /** Whether there is something that the file does not have. */
  #isDirty = false;
  #work: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #isClosed = false;

  constructor(options: LastKnownWriterOptions) {
    this.#options = options;
    this.#proofTimer = setInterval(() => this.#queue(() => this.#noteProof()), PROOF_MS);
    this.#proofTimer.unref();
  }

  /** A snapshot replaced the catalog. */
  loaded(): void {
    this.#schedule(EVERY_MS.records);
  }

  /** A row was applied. */
  applied({ kind }: LogRow): void {
    if (kind === 'records.changed') return;
    this.#schedule(kind === 'flags.changed' ? EVERY_MS.flags : EVERY_MS.records);
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

  #schedule(withinMs: number): void {
    this.#isDirty = true;
    if (this.#isClosed) return;
    const now = performance.now();
    const dueAt = Math.max(now + withinMs, this.#readyAt);
    if (dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#dueAt = Number.POSITIVE_INFINITY;
      this.#queue(() => this.#write());
    }, dueAt - now);
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
    const { place, plane, scope } = this.#options;
    const { cursor } = plane.follower;
    if (cursor === undefined || !this.#isDirty) return;
    this.#isDirty = false;
    const begunAt = performance.now();
    // Taken in one turn, so that they belong together; encoded and written in many.
    const [contents, provenAt] = [plane.catalog.contents(), Date.now() - plane.follower.sinceProofMs()];
    const path = `${place.path}.${process.pid}.tmp`;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'w', 0o600);
    try {
      const hash = new Bun.CryptoHasher('sha256');
      let bytes = 0;
      for (const part of encodeSnapshot(cursor, contents)) {
        hash.update(part);
        await file.write(part, 0, part.length, HEADER_BYTES + bytes);
        bytes += part.length;
      }
      const name = scope?.();
      const header: LastKnownHeader = {
        format: 'halyard-last-known-flags',
        version: LAST_KNOWN_VERSION,
        origin: place.origin,
        ...(name === undefined ? {} : { scope: name }),
        cursor,
        savedAt: Math.floor(provenAt),
        bytes,
        sha256: hash.digest('hex'),
      };
      await file.write(headerText(header, provenAt), 0, 'latin1');
      await file.sync();
      await rename(path, place.path);
    } catch (error) {
      this.#isDirty = true;
      await file.close();
      await rm(path, { force: true });
      throw error;
    }
    await this.#file?.close();
    this.#file = file;
    this.#hasFailed = false;
    this.#readyAt = performance.now() + PAUSE_FACTOR * (performance.now() - begunAt);
  }

  /** Notes in place that the file is still current. The handle is of the file that this process wrote, whatever is there now. */
  async #noteProof(): Promise<void> {
    const { follower } = this.#options.plane;
    if (this.#file === undefined || this.#isDirty || !follower.isLive) return;
    await this.#file.write(proofText(Date.now() - follower.sinceProofMs()), 0, 'latin1');
  }
}

function proofText(provenAt: number): string {
  return String(Math.max(0, Math.floor(provenAt))).padStart(PROOF_DIGITS, '0');
}

function headerText(header: LastKnownHeader, provenAt: number): string {
  const text = `${proofText(provenAt)}\n${JSON.stringify(header)}\n`;
  return text.padEnd(HEADER_BYTES);
}
