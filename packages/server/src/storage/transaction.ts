import type { Actor } from '../domain/audit.ts';
import type { Environment } from '../domain/project.ts';
import type { AuthorCheck } from './author-check.ts';
import type { Parameter, WriteTransaction } from './database.ts';
import type { Journal } from './journal.ts';
import type { Tx } from './tx.ts';

/** The transaction of one operation: what its rules and the tables of nouns read and write through. */
export class SqlTransaction implements Tx {
  readonly journal: Journal;
  readonly locked = new Map<string, Environment>();
  readonly now: () => number;
  beforePeople?: () => Promise<unknown>;
  readonly #sql: WriteTransaction;
  readonly #author: AuthorCheck;
  readonly #journalOf: (actor: Actor) => Journal;

  /** Writes through `sql` and records it in `journal`; `now` returns epoch milliseconds. */
  constructor(
    sql: WriteTransaction,
    {
      journal,
      author,
      now,
      journalOf,
    }: {
      readonly journal: Journal;
      readonly author: AuthorCheck;
      readonly now: () => number;
      readonly journalOf: (actor: Actor) => Journal;
    },
  ) {
    this.#sql = sql;
    this.journal = journal;
    this.now = now;
    this.#author = author;
    this.#journalOf = journalOf;
  }

  journalOf(actor: Actor): Journal {
    return this.#journalOf(actor);
  }

  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<Row[]> {
    return this.#sql.query<Row>(text, parameters);
  }

  /** The end of the log is the lock; people change seldom enough to wait for it from the beginning. */
  async lockPeople(): Promise<void> {
    const { beforePeople } = this;
    delete this.beforePeople;
    await beforePeople?.();
    await this.#author.lock(this.#sql);
  }
}
