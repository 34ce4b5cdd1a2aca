import type { StoredKey } from '../../domain/change-log.ts';
import { DELETED_MARK } from '../../domain/project.ts';
import { digestOf } from '../../domain/secret.ts';

/** The facts about a key that requests need. */
export interface KeyEntry {
  /** Public id; safe in logs. */
  readonly id: string;
  readonly projectId: string;
  /** SHA-256 of the key: known to nodes and relays only. */
  readonly digest: string;
  /** Names of the environments that it opens. */
  environments: ReadonlySet<string>;
  /** Those that were deleted, each with {@link DELETED_MARK}: such a key is still valid, and its readers get 404. */
  deleted: readonly string[];
  /** Epoch milliseconds; `Infinity` where the key does not expire. */
  readonly expiresAt: number;
  /** Set by each use, cleared once the use is stored. */
  used: boolean;
  /** Set once its expiry has been noticed. */
  isExpired: boolean;
}

/** The record of a key that is served: never the key itself. */
export interface ServedKey {
  readonly id: string;
  readonly projectId: string;
  readonly digest: string;
  /** Names of environments, deleted ones with {@link DELETED_MARK}. */
  readonly environments: readonly string[];
  /** Epoch milliseconds; `null` where the key does not expire. */
  readonly expiresAt: number | null;
}

/** The keys of a project as they were at one moment: one object until one of them changes. */
export interface ServedKeys extends Iterable<ServedKey> {
  readonly projectId: string;
}

/** The keys of a project. */
interface ProjectKeys {
  readonly entries: Set<KeyEntry>;
  /** As they were handed out last, if none has changed since. */
  served: ServedKeys | undefined;
}

/** Headers longer than any key are refused before they are hashed. */
const MAX_KEY_LENGTH = 256;
/** How long an expired key is kept, in ms, in case the clock was ahead and is corrected. */
const REMEMBER_MS = 86_400_000;
/** How many digests of removed keys are kept. */
const MAX_REMOVED = 10_000;
const DIGEST = /^[0-9a-f]{64}$/;

/** The project keys by digest, and by id. A lookup is one hash and one `Map` hit; the key itself is nowhere. */
export class KeyIndex {
  #byDigest = new Map<string, KeyEntry>();
  #byId = new Map<string, KeyEntry>();
  #byProject = new Map<string, ProjectKeys>();
  /** Digests of the keys that were removed last, the oldest first. */
  readonly #removed = new Set<string>();
  /** The keys that are marked as used. */
  #used: KeyEntry[] = [];
  #expired = 0;
  /** No key expires or is forgotten before this time. */
  #nextDue = Number.POSITIVE_INFINITY;
  /** The time of the last {@link takeExpired}, which shows when the clock is set back. */
  #checkedAt = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many keys are live. */
  get size(): number {
    return this.#byDigest.size - this.#expired;
  }

  /**
   * Finds the live key behind a header. Missing, oversized, unknown and expired ones all return `undefined`: the caller
   * must not be able to tell them apart. (Spec: S5.4, S10.3)
   */
  authenticate(header: string | null): KeyEntry | undefined {
    if (header === null || header.length > MAX_KEY_LENGTH) return undefined;
    const entry = this.#live(this.#byDigest.get(digestOf(header)));
    if (entry !== undefined) this.noteUse(entry);
    return entry;
  }

  /** Notes that the key was used, for {@link takeUsed}. */
  noteUse(entry: KeyEntry): void {
    if (entry.used) return;
    entry.used = true;
    this.#used.push(entry);
  }

  /** Finds the live key with a public id. An id is no secret, so this alone is no use of the key. */
  withId(id: string): KeyEntry | undefined {
    return this.#live(this.#byId.get(id));
  }

  #live(entry: KeyEntry | undefined): KeyEntry | undefined {
    return entry !== undefined && entry.expiresAt > this.#now() ? entry : undefined;
  }

  /**
   * Adds a key's record. Returns `false` when the record is malformed: such a key opens nothing, and above all a
   * damaged expiry is never read as "does not expire". (Spec: S5.4)
   */
  add(raw: StoredKey): boolean {
    const entry = parseEntry(raw);
    if (entry === undefined) return false;
    this.remove(entry.digest);
    this.#nextDue = Math.min(this.#nextDue, entry.expiresAt);
    this.#byDigest.set(entry.digest, entry);
    this.#byId.set(entry.id, entry);
    this.#inProject(entry).entries.add(entry);
    this.#removed.delete(entry.digest);
    return true;
  }

  /**
   * Whether a header cannot be a key that this index has yet to learn: it holds that key, expired or not, it is one of the
   * last that it held, or it is longer than any key.
   */
  knows(header: string): boolean {
    if (header.length > MAX_KEY_LENGTH) return true;
    const digest = digestOf(header);
    return this.#byDigest.has(digest) || this.#removed.has(digest);
  }

  /** All keys that have not been revoked until now, as {@link add} takes them, by project. */
  served(): readonly ServedKeys[] {
    return [...this.#byProject].map(([projectId, keys]) => {
      keys.served ??= servedKeys(projectId, [...keys.entries]);
      return keys.served;
    });
  }

  /** Forgets a key, for good. */
  remove(digest: string): void {
    const entry = this.#byDigest.get(digest);
    if (entry === undefined) return;
    this.#byDigest.delete(digest);
    this.#byId.delete(entry.id);
    const own = this.#inProject(entry);
    own.entries.delete(entry);
    if (own.entries.size === 0) this.#byProject.delete(entry.projectId);
    this.#removed.add(digest);
    for (const oldest of this.#removed) {
      if (this.#removed.size <= MAX_REMOVED) break;
      this.#removed.delete(oldest);
    }
    if (entry.isExpired) this.#expired--;
  }

  /** Removes every key of a project and returns their ids. */
  removeProject(projectId: string): readonly string[] {
    const removed = [...(this.#byProject.get(projectId)?.entries ?? [])];
    for (const { digest } of removed) this.remove(digest);
    return removed.map(({ id }) => id);
  }

  /** Takes a deleted environment off the keys of its project: they must not open a later one of that name. */
  removeEnvironment(projectId: string, name: string): void {
    const keys = this.#byProject.get(projectId);
    if (keys === undefined) return;
    keys.served = undefined;
    for (const entry of keys.entries) {
      if (!entry.environments.has(name)) continue;
      entry.environments = new Set([...entry.environments].filter((other) => other !== name));
      entry.deleted = [...entry.deleted, `${name}${DELETED_MARK}`];
    }
  }

  /**
   * The ids of the keys that have expired since the last call. They are remembered for a day, so that a clock that
   * was wrong for a while does not end them for good.
   */
  takeExpired(): readonly string[] {
    const now = this.#now();
    const isDue = now >= this.#nextDue || now < this.#checkedAt;
    this.#checkedAt = now;
    if (!isDue) return [];
    const expired: string[] = [];
    this.#nextDue = Number.POSITIVE_INFINITY;
    for (const [digest, entry] of this.#byDigest) {
      const wasExpired = entry.isExpired;
      entry.isExpired = entry.expiresAt <= now;
      this.#expired += Number(entry.isExpired) - Number(wasExpired);
      if (entry.isExpired && !wasExpired) expired.push(entry.id);
      const dueAt = entry.isExpired ? entry.expiresAt + REMEMBER_MS : entry.expiresAt;
      if (dueAt <= now) this.remove(digest);
      else this.#nextDue = Math.min(this.#nextDue, dueAt);
    }
    return expired;
  }

  /**
   * A time before which no key expires or is forgotten, in epoch milliseconds; `Infinity` when none does. Exact after
   * {@link takeExpired}, unless the next key has been removed since.
   */
  nextExpiry(): number {
    return this.#nextDue;
  }

  /** The ids of the keys used since the last call. */
  takeUsed(): readonly string[] {
    const used = this.#used;
    this.#used = [];
    return used.map((entry) => {
      entry.used = false;
      return entry.id;
    });
  }

  /** Replaces all keys by those of another index, which is not used any longer. */
  takeAll(other: KeyIndex): void {
    this.#byDigest = other.#byDigest;
    this.#byId = other.#byId;
    this.#byProject = other.#byProject;
    this.#used = [];
    this.#expired = other.#expired;
    this.#nextDue = other.#nextDue;
    for (const digest of this.#removed) if (this.#byDigest.has(digest)) this.#removed.delete(digest);
  }

  /** The keys of the project of an entry, which are about to change: what was handed out is no longer what they are. */
  #inProject({ projectId }: KeyEntry): ProjectKeys {
    const keys = this.#byProject.get(projectId) ?? { entries: new Set(), served: undefined };
    keys.served = undefined;
    this.#byProject.set(projectId, keys);
    return keys;
  }
}

/** Each record is made when it is read: a hundred thousand at once would delay a read. */
function servedKeys(projectId: string, entries: readonly KeyEntry[]): ServedKeys {
  // What a key opens is replaced, not changed, when an environment is deleted: the records are those of one moment.
  const opened = entries.map(({ environments }) => environments);
  const deleted = entries.map((entry) => entry.deleted);
  return { projectId, [Symbol.iterator]: () => recordsOf(entries, opened, deleted) };
}

function* recordsOf(
  entries: readonly KeyEntry[],
  opened: readonly KeyEntry['environments'][],
  deleted: readonly KeyEntry['deleted'][],
): Generator<ServedKey> {
  for (const [index, { id, projectId, digest, expiresAt }] of entries.entries()) {
    yield {
      id,
      projectId,
      digest,
      environments: [...(opened[index] ?? []), ...(deleted[index] ?? [])],
      expiresAt: expiresAt === Number.POSITIVE_INFINITY ? null : expiresAt,
    };
  }
}

function parseEntry(raw: StoredKey): KeyEntry | undefined {
  const names = parseEnvironments(raw.environments);
  const expiresAt = parseExpiry(raw.expiresAt);
  const { id, projectId, digest } = raw;
  if (!isId(id) || !isId(projectId) || !isDigest(digest)) return undefined;
  if (names === undefined || expiresAt === undefined) return undefined;
  const isDeleted = (name: string) => name.endsWith(DELETED_MARK);
  const environments = new Set(names.filter((name) => !isDeleted(name)));
  const deleted = names.filter(isDeleted);
  return { id, projectId, digest, environments, deleted, expiresAt, used: false, isExpired: false };
}

function isId(raw: unknown): raw is string {
  return typeof raw === 'string' && raw !== '';
}

function isDigest(raw: unknown): raw is string {
  return typeof raw === 'string' && DIGEST.test(raw);
}

function parseEnvironments(raw: unknown): readonly string[] | undefined {
  let names = raw;
  if (typeof raw === 'string') {
    try {
      names = JSON.parse(raw);
    } catch {
      // Malformed: the key opens nothing.
      return undefined;
    }
  }
  if (!Array.isArray(names) || names.length === 0) return undefined;
  return names.every((name) => typeof name === 'string' && name !== '') ? names : undefined;
}

function parseExpiry(raw: unknown): number | undefined {
  if (raw === null || raw === undefined) return Number.POSITIVE_INFINITY;
  return typeof raw === 'number' && Number.isSafeInteger(raw) && raw > 0 ? raw : undefined;
}
