import { type BigIntStats, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StorageError } from '../../domain/errors.ts';

/** The path of a database that lives in memory and ends with its connection; for tests. */
export const IN_MEMORY = ':memory:';

/** How old a folder's time must be to show every later change, in milliseconds: some file systems count in steps of two seconds. */
const SETTLED_AFTER_MS = 3_000;

/** Which files an open database consists of: one that was replaced has another identity. */
export class FileIdentities {
  readonly #folder: string;
  readonly #files: ReadonlyMap<string, string>;
  readonly #now: () => number;
  readonly #isLink: boolean;
  /** The folder as it was when its files were last found in place, if that says so until it changes. */
  #settled: string | undefined;

  /** Notes the files of the open database at `path`. Never opens one, which would drop SQLite's locks. `now` is a clock in ms. */
  constructor(path: string, now: () => number = Date.now) {
    this.#folder = dirname(path);
    this.#now = now;
    const real = path === IN_MEMORY ? path : realpathSync(path);
    this.#isLink = path !== IN_MEMORY && real !== join(realpathSync(this.#folder), basename(path));
    const files = path === IN_MEMORY ? [] : [path, `${real}-wal`];
    this.#files = new Map(files.map((file) => [file, identityOf(file)]));
  }

  /**
   * Throws {@link StorageError} when one of the files was removed or replaced. SQLite would still take writes, into a
   * file that no program finds again.
   */
  check(): void {
    if (this.#files.size === 0) return;

    // Since Linux 6.13, a `stat` makes the next write to that file record an exact time, and its flush takes 1.4 times as
    // long. So this looks at the folder, whose time changes whenever a file is added or removed.
    const folder = statOf(this.#folder);
    const state = folder && `${identity(folder)}:${folder.ctimeNs}`;
    if (state !== undefined && state === this.#settled) return;

    for (const [file, known] of this.#files) {
      if (identityOf(file) === known) continue;
      throw new StorageError(
        `The file ${basename(file)} was removed or replaced while in use: restart Halyard.`,
      );
    }

    const isSettled = folder && this.#now() - Number(folder.ctimeMs) > SETTLED_AFTER_MS;
    this.#settled = isSettled && !this.#isLink ? state : undefined;
  }
}

function identityOf(path: string): string {
  const stat = statOf(path);
  return stat === undefined ? 'missing' : identity(stat);
}

function identity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}
