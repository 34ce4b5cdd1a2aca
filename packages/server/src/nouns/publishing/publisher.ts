import { flagdDocument } from '../../domain/flagd-document.ts';
import type { ObjectStorage, StoredFile } from './object-storage.ts';
import type { PendingPublication, PublishedMap } from './publication.ts';
import {
  CACHE,
  FLAGD,
  objectName,
  POINTER,
  type Pointer,
  parsePointer,
  pointerText,
} from './published-files.ts';

/** How long an object is kept at least, in milliseconds, also when it is not the newest: a reader may have an older pointer. */
const KEPT_MS = 86_400_000;

/** Files that one list has. */
const PAGE = 1000;

/** What is used of an {@link ObjectStorage}. */
export type PublishedStorage = Pick<ObjectStorage, 'read' | 'write' | 'remove' | 'list'>;

/** The storage has a newer revision than the database: nothing is written over it. */
export class StorageAheadError extends Error {
  override readonly name = 'StorageAheadError';
}

/** What is in the storage for an environment, as this node last saw or wrote it. */
interface Known {
  readonly pointerTag: string | undefined;
  readonly flagdTag: string | undefined;
  readonly pointer: Pointer | undefined;
}

/**
 * Writes published environments into the storage, the pointer last. Each write says what it replaces, so a process that
 * was frozen, and writes when another has long taken over, changes nothing. (Spec: S18.3, S18.4)
 */
export class Publisher {
  readonly #storage: PublishedStorage;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();

  constructor(storage: PublishedStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Forgets what was seen: another node may have written since. */
  forget(): void {
    this.#known.clear();
  }

  /**
   * Publishes a map that is current now, or notes that it is still the newest. Returns whether it is in the storage now; if not, something else was
   * written at the same time. Throws a {@link StorageAheadError}, or what the storage refused.
   */
  async publish({ environmentId, path }: PendingPublication, map: PublishedMap): Promise<boolean> {
    // The map was current when it was handed over; the writes below may take long.
    const at = new Date(this.#now()).toISOString();
    const known = this.#known.get(environmentId) ?? (await this.#look(path));
    this.#known.delete(environmentId);
    const { pointer } = known;
    checkOrder(environmentId, map, pointer);

    const isSame = pointer?.environmentId === environmentId && pointer.revision === map.revision;
    let { flagdTag } = known;
    if (!isSame) {
      const object: StoredFile = { body: map.bytes, cacheControl: CACHE.object };
      // One of that name has these bytes.
      await this.#storage.write(`${path}/${objectName(map)}`, object, { etag: undefined });
      flagdTag = await this.#writeFlagd(path, map, known);
      if (flagdTag === undefined) return false;
    }

    const { revision, hash } = map;
    const publishedAt = isSame ? pointer.publishedAt : at;
    const next: Pointer = { environmentId, revision, hash, publishedAt, checkedAt: at };
    const file: StoredFile = { body: pointerText(next), cacheControl: CACHE.newest };
    const pointerTag = await this.#storage.write(`${path}/${POINTER}`, file, { etag: known.pointerTag });
    if (pointerTag === undefined) return false;
    this.#known.set(environmentId, { pointer: next, pointerTag, flagdTag });
    return true;
  }

  /** Removes old objects. Returns whether there may be more of them. */
  async clean({ environmentId, path }: PendingPublication): Promise<boolean> {
    const { pointer } = this.#known.get(environmentId) ?? {};
    if (pointer === undefined) return false;
    const kept = new Set([POINTER, FLAGD, objectName(pointer)].map((name) => `${path}/${name}`));
    const files = await this.#storage.list(path);
    const oldest = this.#now() - KEPT_MS;
    for (const file of files)
      if (!kept.has(file.path) && file.writtenAt < oldest) await this.#storage.remove(file.path);
    return files.length >= PAGE;
  }

  /** Removes all files of an environment, the pointer first. */
  async withdraw({ environmentId, path }: PendingPublication): Promise<void> {
    this.#known.delete(environmentId);
    const { pointer } = await this.#look(path);
    if (pointer !== undefined && pointer.environmentId !== environmentId) return;
    await this.#storage.remove(`${path}/${POINTER}`);
    for (let files = await this.#storage.list(path); files.length > 0; files = await this.#storage.list(path))
      for (const file of files) await this.#storage.remove(file.path);
  }

  async #look(path: string): Promise<Known> {
    const pointer = await this.#storage.read(`${path}/${POINTER}`);
    const flagd = await this.#storage.read(`${path}/${FLAGD}`);
    return {
      pointerTag: pointer?.etag,
      pointer: pointer && parsePointer(pointer.text),
      flagdTag: flagd?.etag,
    };
  }

  async #writeFlagd(path: string, map: PublishedMap, { flagdTag }: Known): Promise<string | undefined> {
    const environment = path.slice(path.indexOf('/') + 1);
    const { revision } = map;
    const body = await flagdDocument({ environment, revision, states: map.states() });
    const file: StoredFile = { body, cacheControl: CACHE.newest };
    return this.#storage.write(`${path}/${FLAGD}`, file, { etag: flagdTag });
  }
}

/** Environments of one path follow each other, and their ids grow: this relies on names that never move to another environment. */
function checkOrder(environmentId: string, map: PublishedMap, pointer: Pointer | undefined): void {
  if (pointer === undefined || pointer.environmentId < environmentId) return;
  const isOther = pointer.environmentId > environmentId;
  if (!isOther && pointer.revision === map.revision && pointer.hash === map.hash) return;
  if (!isOther && pointer.revision < map.revision) return;
  throw new StorageAheadError(
    `the storage has revision ${pointer.revision}${isOther ? ' of a later environment' : ''}, and this node revision ${map.revision}`,
  );
}
