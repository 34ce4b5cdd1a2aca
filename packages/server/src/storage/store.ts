import type { Actor } from '../domain/audit.ts';
import { StoreOutage } from '../domain/errors.ts';
import type { Committed, Store, StoreReader, StoreTransaction } from '../domain/store.ts';
import { CommitUncertainError, type Database } from './database.ts';
import { Journal, type Sources } from './journal.ts';
import { SqlPeopleStore } from './people-store.ts';
import { SqlReader } from './reader.ts';
import { chunks } from './rows.ts';
import { SqlTransaction } from './transaction.ts';

/** How long the outcome of an uncertain commit is looked up, and the pause between two attempts. */
const LOOK_UP = { patienceMs: 15_000, pauseMs: 250 } as const;

/** Uses of keys that one transaction stores: nothing else can write meanwhile. */
const USES_AT_ONCE = 500;

/** Thrown through a transaction that has nothing to commit, to end it without a trace. */
class NothingWritten<T> {
  readonly result: T;

  constructor(result: T) {
    this.result = result;
  }
}

/** The store over either engine. All SQL is in this folder, the same for both. */
export class SqlStore implements Store {
  readonly people: SqlPeopleStore;
  readonly #database: Database;
  readonly #sources: Sources;

  /** Keeps its data in `database`, whose schema must be current (see `migrate`). */
  constructor(database: Database, sources: Partial<Sources> = {}) {
    this.#database = database;
    this.people = new SqlPeopleStore(database);
    this.#sources = { now: Date.now, newId: () => Bun.randomUUIDv7(), ...sources };
  }

  read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T> {
    return this.#database.snapshot((queryable) => work(new SqlReader(queryable)));
  }

  async commit<T>(actor: Actor, work: (transaction: StoreTransaction) => Promise<T>): Promise<Committed<T>> {
    let attempt: { readonly committed: Committed<T>; readonly journal: Journal } | undefined;
    try {
      return await this.#database.transaction(async (transaction) => {
        const journal = new Journal(actor, this.#sources);
        const result = await work(new SqlTransaction(transaction, journal, this.#sources.now));
        if (journal.isEmpty) throw new NothingWritten(result);
        const seq = await journal.write(transaction);
        const committed = seq === undefined ? { result } : { result, seq };
        attempt = { committed, journal };
        return committed;
      });
    } catch (error) {
      // `T`: only the line above assigns it, from this `work`.
      if (error instanceof NothingWritten) return { result: error.result as T };
      if (!(error instanceof CommitUncertainError) || attempt === undefined) throw error;
      if (await this.#isCommitted(attempt.journal, error)) return attempt.committed;
      throw new StoreOutage('the connection to the database was lost and the operation was rolled back', {
        cause: error,
      });
    }
  }

  touchKeys(lastUsed: Iterable<readonly [id: string, at: number]>): Promise<void> {
    return this.#touch('project_keys', lastUsed);
  }

  touchAccessTokens(lastUsed: Iterable<readonly [id: string, at: number]>): Promise<void> {
    return this.#touch('access_tokens', lastUsed);
  }

  touchRelays(lastUsed: Iterable<readonly [id: string, at: number]>): Promise<void> {
    return this.#touch('relay_tokens', lastUsed);
  }

  async #touch(
    table: 'project_keys' | 'access_tokens' | 'relay_tokens',
    lastUsed: Iterable<readonly [id: string, at: number]>,
  ): Promise<void> {
    for (const uses of chunks(lastUsed, USES_AT_ONCE)) {
      // In order of ids, so that two nodes that note the same keys do not wait for each other.
      uses.sort(([a], [b]) => (a < b ? -1 : 1));
      await this.#database.transaction(async (transaction) => {
        for (const [id, at] of uses) {
          await transaction.query(
            `UPDATE ${table} SET last_used_at = $1
              WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $1)`,
            [at, id],
          );
        }
      });
    }
  }

  /**
   * Whether the transaction of `journal` committed. Asked under the lock on the log's end, which that transaction held: once
   * this one holds it, that one has ended. Rejects with `uncertain` when the database stays unreachable.
   */
  async #isCommitted(journal: Journal, uncertain: CommitUncertainError): Promise<boolean> {
    const { text, id } = journal.proof;
    const deadline = performance.now() + LOOK_UP.patienceMs;
    for (;;) {
      try {
        return await this.#database.transaction(async (transaction) => {
          await transaction.query('UPDATE feed SET seq = seq WHERE id = 1');
          return (await transaction.query(text, [id])).length > 0;
        });
      } catch {
        // The database is still away, or the lost session still holds the lock; the caller gets the first cause.
        if (performance.now() > deadline) throw uncertain;
        await Bun.sleep(LOOK_UP.pauseMs);
      }
    }
  }
}
