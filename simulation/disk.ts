import type { Chance } from './chance.ts';
import type { Kernel } from './kernel.ts';

/** After so long, names that were not synced are on the disk, in milliseconds: as late as file systems write their journals. */
const JOURNAL_MS = 30_000;

/** The contents of a file: as every process sees it, and as a power cut leaves it. */
interface Contents {
  bytes: Buffer;
  synced: Buffer;
}

/** A change of the names, which a power cut may undo while it is young. */
interface Renaming {
  readonly at: number;
  readonly before: ReadonlyMap<string, Contents>;
}

/** The disk of one machine: what is not synced may be lost or torn when the power fails, and nothing is lost by a kill. */
export class Disk {
  /** Whether writes fail. */
  isFull = false;
  readonly #kernel: Kernel;
  readonly #chance: Chance;
  #names = new Map<string, Contents>();
  #journal: Renaming[] = [];

  constructor(kernel: Kernel, chance: Chance) {
    this.#kernel = kernel;
    this.#chance = chance;
  }

  /** Loses what is not on the disk yet, as the power fails. */
  cutPower(): void {
    const young = this.#journal.filter(({ at }) => at > this.#kernel.now - JOURNAL_MS);
    const undone = young.length === 0 ? undefined : young[this.#chance.whole(0, young.length)];
    if (undone !== undefined) this.#names = new Map(undone.before);
    this.#journal = [];
    for (const contents of new Set(this.#names.values())) {
      if (contents.bytes.equals(contents.synced)) continue;
      // The old contents, the new ones, or as many of the new ones as there was time for.
      const { bytes, synced } = contents;
      const written = bytes.length === synced.length ? bytes.length : this.#chance.whole(0, bytes.length);
      contents.bytes = Buffer.from(this.#chance.happens(0.5) ? synced : bytes.subarray(0, written));
      contents.synced = Buffer.from(contents.bytes);
    }
  }

  /** Damages one byte of every file. */
  rot(): void {
    for (const { bytes, synced } of this.#names.values()) {
      if (bytes.length === 0) continue;
      const place = this.#chance.whole(0, bytes.length - 1);
      for (const each of [bytes, synced])
        if (place < each.length) each.writeUInt8(each.readUInt8(place) ^ 1, place);
    }
  }

  /** As `node:fs/promises` does it, for what the product uses of it. */
  readonly files = {
    mkdir: () => this.#do(() => undefined),
    readdir: () =>
      this.#do(() => [...this.#names.keys()].map((path) => path.slice(path.lastIndexOf('/') + 1))),
    readFile: (path: string) =>
      this.#do(() => {
        const contents = this.#names.get(path);
        if (contents === undefined) throw failure('ENOENT');
        return Buffer.from(contents.bytes);
      }),
    open: (path: string, flags: string) =>
      this.#do(() => {
        // The folder: only to sync the names in it.
        if (flags === 'r') return this.#folder;
        const contents: Contents = { bytes: Buffer.alloc(0), synced: Buffer.alloc(0) };
        this.#rename((names) => names.set(path, contents));
        return this.#handleOf(contents);
      }),
    rename: (from: string, to: string) =>
      this.#do(() => {
        const contents = this.#names.get(from);
        if (contents === undefined) throw failure('ENOENT');
        this.#rename((names) => names.set(to, contents).delete(from));
      }),
    rm: (path: string) => this.#do(() => this.#rename((names) => names.delete(path))),
  };

  /** Syncing it keeps the names. */
  readonly #folder = {
    sync: () =>
      this.#do(() => {
        this.#journal = [];
      }),
    close: () => this.#do(() => undefined),
  };

  #handleOf(contents: Contents) {
    const write = (data: Uint8Array, at: number): void => {
      if (this.isFull) throw failure('ENOSPC');
      const grown = Buffer.alloc(Math.max(contents.bytes.length, at + data.length));
      contents.bytes.copy(grown);
      grown.set(data, at);
      contents.bytes = grown;
    };
    return {
      write: (data: Uint8Array | string, at: number, ...rest: (number | string)[]) =>
        this.#do(() =>
          // A text comes with its place and its encoding, bytes with their own offset, length and place.
          typeof data === 'string' ? write(Buffer.from(data, 'latin1'), at) : write(data, Number(rest[1])),
        ),
      sync: () =>
        this.#do(() => {
          contents.synced = Buffer.from(contents.bytes);
        }),
      close: () => this.#do(() => undefined),
    };
  }

  #rename(change: (names: Map<string, Contents>) => unknown): void {
    this.#journal = this.#journal.filter(({ at }) => at > this.#kernel.now - JOURNAL_MS);
    this.#journal.push({ at: this.#kernel.now, before: new Map(this.#names) });
    change(this.#names);
  }

  /** Does one step after the time that a disk takes. */
  #do<T>(step: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#kernel.after(this.#chance.between(0.05, 3), () => {
        try {
          resolve(step());
        } catch (error) {
          reject(error);
        }
      });
    });
  }
}

function failure(code: 'ENOENT' | 'ENOSPC'): Error {
  return Object.assign(new Error(`${code}: the simulated disk`), { code });
}
