import type { Actor } from '../domain/audit.ts';
import type { CommittedRows } from '../domain/change-log.ts';
import { RightsChanged, StoreOutage } from '../domain/errors.ts';
import { AuthorCheck } from './author-check.ts';
import {
  AssertionFailed,
  CommitUncertainError,
  type Database,
  type OpenDatabase,
  type Parameter,
  type Queryable,
  type ReadExtent,
  type SqlLogSession,
  type WriteTransaction,
} from './database.ts';
import { type Appended, appendToLog, Journal, type Sources } from './journal.ts';
import { NewestStretch } from './newest-stretch.ts';
import { SqlTransaction } from './transaction.ts';
import type { GroupDone, GroupTx, GroupWork, Tx, UnloggedTx } from './tx.ts';
import { type OnRefusal, WriteRefusal } from './write-refusal.ts';

/** The result of a committed operation. */
export interface Committed<T> {
  readonly result: T;
  /** The last change-log row it wrote; `undefined` when it wrote none. */
  readonly seq?: number;
}

/**
 * Where the nouns are kept: all that management may do with a database.
 * Failures other than {@link ServiceError} (a lost database, a full disk) reject with the engine's error.
 */
export interface Store extends Queryable {
  /** Runs reads in one consistent snapshot. */
  read<T>(work: (db: Queryable) => Promise<T>): Promise<T>;
  /**
   * Runs writes that are no change in one transaction: no log row, no audit row. `work` may run again, as in {@link commit}. The rights
   * of `author` are checked as there; without one, the server writes for itself.
   */
  unlogged<T>(work: (tx: UnloggedTx) => Promise<T>, author?: Actor): Promise<T>;
  /**
   * Runs one operation in one transaction: state, change log and audit log commit together. Rejects with `RightsChanged`, and
   * changes nothing, when the actor's credential has ended by then or gives other rights. When the connection is
   * lost during COMMIT, the outcome is looked up by change id before this settles. `work` may run again from its
   * beginning after a conflict with another writer, so it must base its decisions on what it reads there.
   */
  commit<T>(actor: Actor, work: (tx: Tx) => Promise<T>): Promise<Committed<T>>;
  /**
   * Runs several operations in one transaction, each with a journal and so with a change of its own; otherwise as {@link commit}.
   * The rights of all authors are checked.
   */
  commitGroup<T>(work: (tx: GroupTx) => Promise<GroupWork<T>>): Promise<GroupDone<T>>;
}

/** What a transaction did: a result, the check of its authors, and journals for the log, none of which is empty. */
interface Work<T> {
  readonly result: T;
  readonly author: AuthorCheck;
  readonly journals: readonly Journal[];
}

/** Thrown through a transaction that has nothing to commit, to end it without a trace. */
class NothingWritten<T> {
  readonly result: T;

  constructor(result: T) {
    this.result = result;
  }
}

/** The store over either engine. The SQL of nouns is in their folders, the same for both. */
export class SqlStore implements Store {
  readonly #database: Database;
  readonly #sources: Sources;
  readonly #stretch = new NewestStretch();

  /** Keeps its data in `database`, whose schema must be current (see `migrate`). */
  constructor(database: Database, sources: Partial<Sources> = {}) {
    this.#database = database;
    this.#sources = { now: Date.now, newId: () => Bun.randomUUIDv7(), ...sources };
  }

  read<T>(work: (db: Queryable) => Promise<T>): Promise<T> {
    return this.#database.snapshot(work);
  }

  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return this.#database.query<Row>(text, parameters);
  }

  async unlogged<T>(work: (tx: UnloggedTx) => Promise<T>, author?: Actor): Promise<T> {
    const { now } = this.#sources;
    try {
      return await this.#database.transaction(async (transaction) => {
        const result = await work({
          query: (text, parameters) => transaction.query(text, parameters),
          now,
        });
        if (author !== undefined) await new AuthorCheck([author], now).lock(transaction);
        return result;
      });
    } catch (error) {
      if (error instanceof AssertionFailed) throw new RightsChanged({ cause: error });
      throw error;
    }
  }

  async commit<T>(actor: Actor, work: (tx: Tx) => Promise<T>): Promise<Committed<T>> {
    const { result, seqs } = await this.#write(async (transaction) => {
      const { now } = this.#sources;
      const journal = new Journal(actor, this.#sources);
      const others: Journal[] = [];
      const journalOf = (other: Actor) => {
        const own = new Journal(other, this.#sources);
        others.push(own);
        return own;
      };

      const author = new AuthorCheck([actor], now);
      const result = await work(new SqlTransaction(transaction, { journal, author, now, journalOf }));
      return { result, author, journals: [...others, journal].filter(({ isEmpty }) => !isEmpty) };
    });
    const seq = seqs.at(-1);
    return seq === undefined ? { result } : { result, seq };
  }

  commitGroup<T>(work: (tx: GroupTx) => Promise<GroupWork<T>>): Promise<GroupDone<T>> {
    const { now } = this.#sources;
    return this.#write(async (sql) => {
      const journalOf = (actor: Actor) => new Journal(actor, this.#sources);
      const { result, authors, journals } = await work({ sql, now, journalOf });
      return { result, author: new AuthorCheck(authors, now), journals };
    });
  }

  /** Rejects with `RightsChanged` where a change by this actor would be refused now. */
  protected async requireRights(actor: Actor): Promise<void> {
    await this.commitGroup(async () => ({ result: undefined, authors: [actor], journals: [] }));
  }

  /** Runs `work` in one transaction, writes its journals, commits, and hands the rows to the followers of this process. */
  async #write<T>(work: (transaction: WriteTransaction) => Promise<Work<T>>): Promise<GroupDone<T>> {
    let attempt: { readonly result: T; readonly appended: Appended } | undefined;
    try {
      const { result, appended } = await this.#database.transaction(async (transaction) => {
        const { result, author, journals } = await work(transaction);
        if (journals.length === 0) {
          await author.check(transaction);
          throw new NothingWritten(result);
        }

        const { now } = this.#sources;
        attempt = {
          result,
          appended: appendToLog(transaction, journals, { author, now, stretch: this.#stretch }),
        };
        return attempt;
      });

      const committed = appended.committed();
      this.#database.announce(committed);
      return { result, seqs: appended.seqs(committed.after.seq + 1) };
    } catch (error) {
      // `T`: only the line above assigns it, from this `work`.
      if (error instanceof NothingWritten) return { result: error.result as T, seqs: [] };
      if (error instanceof AssertionFailed) throw new RightsChanged({ cause: error });
      if (!(error instanceof CommitUncertainError) || attempt === undefined) throw error;

      const first = await this.#seqOf(attempt.appended.firstId, error);
      this.#database.announce();
      if (first !== undefined) return { result: attempt.result, seqs: attempt.appended.seqs(first) };
      throw new StoreOutage('the connection to the database was lost and the operation was rolled back', {
        cause: error,
      });
    }
  }

  /**
   * The `seq` of the row with this id, or `undefined` when its transaction was rolled back. A row that is missing proves
   * nothing by itself: the end of the log is locked together with COMMIT, which may still be on its way. Rejects with
   * `uncertain` when the database stays unreachable, or cannot say how the transaction ended.
   */
  #seqOf(changeId: string, uncertain: CommitUncertainError): Promise<number | undefined> {
    return uncertain.settle(() =>
      this.#database.transaction(async (transaction) => {
        // Waits for a COMMIT that waits for a standby; the commit of this write is behind it there.
        await transaction.query('UPDATE feed SET seq = seq WHERE id = 1');
        const outcome = await uncertain.outcome(transaction);
        const text = 'SELECT seq FROM change_log WHERE change_id = $1';
        const [row] = await transaction.query<{ seq: number }>(text, [changeId]);
        if (row === undefined && outcome !== 'aborted') throw uncertain;
        return row?.seq;
      }),
    );
  }
}

/**
 * A database that is opened at its first use, and again at the next one when that failed: a node outlives
 * a database that is unreachable. Uses at the same time share one attempt. Each rejects with `StorageError` when
 * retrying cannot help, otherwise with the engine's error.
 */
export class LazyDatabase implements Database {
  /** Whether it refuses writes. */
  readonly refusal: WriteRefusal;
  readonly #open: () => Promise<OpenDatabase>;
  #attempt: Promise<OpenDatabase> | undefined;
  #database: OpenDatabase | undefined;

  constructor(open: () => Promise<OpenDatabase>, onRefusal: OnRefusal = () => {}) {
    this.#open = open;
    this.refusal = new WriteRefusal(this, onRefusal);
  }

  async query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return (await this.#opened()).query(text, parameters);
  }

  async transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    const database = await this.#opened();
    try {
      return await database.transaction(work);
    } catch (error) {
      this.refusal.note(error);
      throw error;
    }
  }

  async snapshot<T>(work: (db: Queryable) => Promise<T>, extent?: ReadExtent): Promise<T> {
    return (await this.#opened()).snapshot(work, extent);
  }

  async yieldTo<T>(work: () => Promise<T>): Promise<T> {
    return (await this.#opened()).yieldTo(work);
  }

  async openLogSession(): Promise<SqlLogSession> {
    return (await this.#opened()).openLogSession();
  }

  announce(committed?: CommittedRows): void {
    this.#database?.announce(committed);
  }

  /** Closes it if it was opened. */
  async close(): Promise<void> {
    this.refusal.close();
    const opened = await this.#attempt?.catch(() => undefined);
    await opened?.close();
  }

  #opened(): Promise<OpenDatabase> {
    this.#attempt ??= this.#open().then(
      (database) => {
        this.#database = database;
        return database;
      },
      (error: unknown) => {
        this.#attempt = undefined;
        throw error;
      },
    );
    return this.#attempt;
  }
}
