import fileSystem from 'node:fs';
import type { Logger } from 'pino';
import { ServiceError } from '../domain/errors.ts';

const FOLDER = '/proc/self/fd';

/** How many there should be at least: streams are what takes them, and an application has one for each process. */
const LOW_LIMIT = 4096;

/** Most that are kept for what is not a stream; of a low limit, an eighth. */
const MAX_RESERVE = 400;

/** How long a count holds, in milliseconds; streams opened in the meantime are added to it. */
const COUNT_MS = 20;

/** How often the files are counted when no stream is opened, in milliseconds. */
const CHECK_MS = 1000;

/** One line in this time covers all streams that are refused, in milliseconds. */
const LOG_PAUSE_MS = 10_000;

/**
 * The files and sockets of this process, measured against its limit. A process at its limit accepts no connection, not
 * even for `/readyz`, and says nothing, so streams are refused while there are files left for everything else.
 */
export class OpenFiles {
  readonly limit: number;
  /** How many streams were refused. */
  refused = 0;
  readonly #log: Logger;
  readonly #most: number;
  readonly #timer: Timer;
  #open = countFiles();
  #countedAt = performance.now();
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(log: Logger, limit = fileLimit()) {
    this.#log = log;
    this.limit = limit;
    this.#most = limit - Math.min(MAX_RESERVE, Math.ceil(limit / 8));
    this.#timer = setInterval(() => this.count(), CHECK_MS);
    this.#timer.unref();
    if (limit < LOW_LIMIT) {
      log.warn(
        { limit, streams: this.#most },
        'low limit of open files: raise it (ulimit -n) for more streams',
      );
    }
  }

  /** Whether only the reserve is left. Connections end with their answers then. */
  get isShort(): boolean {
    return this.#open >= this.#most;
  }

  /** How many are open now. */
  count(): number {
    this.#countedAt = performance.now();
    this.#open = countFiles();
    return this.#open;
  }

  /** Counts a stream that is about to be opened. Refuses it when only the reserve is left. */
  admitStream(): void {
    if (performance.now() - this.#countedAt > COUNT_MS) this.count();
    if (!this.isShort) {
      this.#open++;
      return;
    }
    this.refused++;
    this.#logRefusal();
    const message = 'This node has as many connections open as it can: try again later, or on another node.';
    throw new ServiceError('internal_error', message, { retryAfterSeconds: 5 });
  }

  /** Stops counting. */
  close(): void {
    clearInterval(this.#timer);
  }

  #logRefusal(): void {
    const now = performance.now();
    if (now - this.#loggedAt < LOG_PAUSE_MS) return;
    this.#loggedAt = now;
    const { limit, refused } = this;
    this.#log.warn({ limit, open: this.#open, refused }, 'stream refused: the limit of open files is near');
  }
}

/** 0 where the system does not say; only Linux does. */
function countFiles(): number {
  try {
    // Since Linux 6.2 the size of the folder is their number. Reading the folder takes milliseconds for 20,000.
    return fileSystem.statSync(FOLDER).size || fileSystem.readdirSync(FOLDER).length;
  } catch {
    return 0;
  }
}

/** Infinite where there is no limit or it is not known. */
function fileLimit(): number {
  try {
    const [, soft] =
      /^Max open files\s+(\S+)/m.exec(fileSystem.readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(soft) || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
