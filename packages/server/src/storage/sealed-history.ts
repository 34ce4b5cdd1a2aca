import type { Cursor, LogHistory } from '../domain/change-log.ts';
import { isSameSecret } from '../domain/secret.ts';
import type { Database, Queryable } from './database.ts';

/** What is between a change id and its seal; no change id has it. */
const MARK = '.';

/** Hexadecimal digits of a seal: 128 bits. */
const SEAL_DIGITS = 32;

const READ_KEY = 'SELECT seal_key AS "key" FROM feed WHERE id = 1';
const MAKE_KEY = 'UPDATE feed SET seal_key = $1 WHERE id = 1 AND seal_key IS NULL';

/**
 * What a database knows of a row of an epoch. `held`: its log has it, or had it and pruned it. `missing`: its log ends before it,
 * or has another in its place. `over`: another epoch has begun.
 */
export type RowPlace = 'held' | 'missing' | 'over';

/** Parts of a {@link SealedHistory}. */
export interface SealedHistoryOptions {
  /** The database that takes writes. */
  readonly primary: Database;
  readonly placeOf: (row: Cursor) => Promise<RowPlace>;
  /** Begins a new epoch if the row is still missing. */
  readonly beginEpochAfter: (lost: Cursor) => Promise<void>;
}

/**
 * The history of a database's log. Followers get change ids with a seal, made with a key that only the database and its
 * nodes have: so a follower can prove that a row was once a part of this history, and cannot invent one.
 * (docs/decisions/0031-sealed-cursors.md)
 */
export class SealedHistory implements LogHistory {
  readonly #options: SealedHistoryOptions;
  #key: string | undefined;

  constructor(options: SealedHistoryOptions) {
    this.#options = options;
  }

  /** Reads the key, and makes one where none is; a database that takes no writes now gets it from another node, or later. */
  async load(reader: Queryable): Promise<void> {
    this.#key = (await readKey(reader)) ?? (await this.#makeKey().catch(() => undefined));
  }

  seal(row: Cursor): string {
    // Without an id, it is not known which row is there.
    if (this.#key === undefined || row.changeId === '') return row.changeId;
    return row.changeId + MARK + sealOf(row, this.#key);
  }

  async hasLost(sealed: Cursor): Promise<boolean> {
    const row = this.#opened(sealed);
    if (row === undefined) return false;

    const place = await this.#options.placeOf(row);
    if (place === 'missing') await this.#options.beginEpochAfter(row);
    // Where the epoch is over, this node still follows it for a moment: what it has is no place to go back to.
    return place !== 'held';
  }

  /** It makes nothing and moves nothing, so it takes no seal. */
  async isOver(own: Cursor): Promise<boolean> {
    return (await this.#options.placeOf(own)) === 'over';
  }

  /** The row of a sealed cursor; `undefined` if the seal is missing or not ours. */
  #opened({ epoch, seq, changeId }: Cursor): Cursor | undefined {
    const [id = '', seal] = changeId.split(MARK, 2);
    if (this.#key === undefined || seal === undefined || id === '') return undefined;
    const row = { epoch, seq, changeId: id };
    return isSameSecret(seal, sealOf(row, this.#key)) ? row : undefined;
  }

  async #makeKey(): Promise<string | undefined> {
    const { primary } = this.#options;
    await primary.query(MAKE_KEY, [crypto.getRandomValues(new Uint8Array(32)).toHex()]);
    return await readKey(primary);
  }
}

async function readKey(reader: Queryable): Promise<string | undefined> {
  const [row] = await reader.query<{ key: string | null }>(READ_KEY);
  return row?.key ?? undefined;
}

function sealOf({ epoch, seq, changeId }: Cursor, key: string): string {
  const text = JSON.stringify([epoch, seq, changeId]);
  return new Bun.CryptoHasher('sha256', key).update(text).digest('hex').slice(0, SEAL_DIGITS);
}
