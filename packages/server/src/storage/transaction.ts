import type { Environment } from '../domain/project.ts';
import type { StoreTransaction } from '../domain/store.ts';
import type { AuthorCheck } from './author-check.ts';
import type { WriteTransaction } from './database.ts';
import type { Journal } from './journal.ts';
import { ENVIRONMENT_COLUMNS, type EnvironmentRow, toEnvironment } from './reader.ts';
import { RecordWriter } from './record-writer.ts';

/**
 * All writes of one operation in one write transaction, each recorded in the journal. This class has the locks;
 * `RecordWriter`, which it extends, has the records.
 */
export class SqlTransaction extends RecordWriter implements StoreTransaction {
  readonly #sql: WriteTransaction;
  readonly journal: Journal;
  readonly #author: AuthorCheck;
  readonly #now: () => number;
  readonly locked = new Map<string, Environment>();

  /** Writes through `sql` and records it in `journal`; `now` returns epoch milliseconds. */
  constructor(
    sql: WriteTransaction,
    {
      journal,
      author,
      now,
    }: { readonly journal: Journal; readonly author: AuthorCheck; readonly now: () => number },
  ) {
    super(sql, journal, now);
    this.#sql = sql;
    this.journal = journal;
    this.#now = now;
    this.#author = author;
  }

  async lockEnvironment(id: string): Promise<Environment | undefined> {
    const known = this.locked.get(id);
    if (known !== undefined) return known;
    // An UPDATE locks the row in either engine, and returns it as it is once the lock is held.
    const [row] = await this.#sql.query<EnvironmentRow>(
      `UPDATE environments SET revision = revision WHERE id = $1 AND deleted_at IS NULL
        RETURNING ${ENVIRONMENT_COLUMNS}`,
      [id],
    );
    if (row === undefined) return undefined;
    const environment = toEnvironment(row);
    this.locked.set(id, environment);
    return environment;
  }

  protected forgetEnvironment(id: string): void {
    this.locked.delete(id);
  }

  /** The end of the log is the lock; people change seldom enough to wait for it from the beginning. */
  lockPeople(): Promise<void> {
    return this.#author.lock(this.#sql);
  }

  now(): number {
    return this.#now();
  }
}
