import { Database as Sqlite } from 'bun:sqlite';
import { StoreOutage } from '../packages/server/src/domain/errors.ts';
import {
  CommitUncertainError,
  checkTexts,
  type OpenDatabase,
  type Queryable,
  type Statement,
  type WriteTransaction,
} from '../packages/server/src/storage/database.ts';
import { SqliteConnection } from '../packages/server/src/storage/engines/sqlite-connection.ts';
import { Turnstile } from '../packages/server/src/storage/engines/turnstile.ts';
import { migrate } from '../packages/server/src/storage/schema.ts';
import type { Chance } from './chance.ts';
import type { Kernel } from './kernel.ts';

/** How a transaction ends that was not refused: the caller is told so, or hears nothing of its COMMIT. */
type Fate = 'answered' | 'lost before' | 'lost after' | 'late commit' | 'late abort';

/** A database with the current schema and nothing in it: made once, because that takes longer than a history. */
let empty: Promise<Uint8Array> | undefined;

/**
 * SQLite in memory behind the faults of a server far away: each statement takes a while, the server is gone before a
 * transaction, and the answer to COMMIT gets lost, while the COMMIT itself comes at once, later, or never. One transaction
 * at a time, as writers of one database wait for the end of its log.
 */
export class SimulatedEngine implements OpenDatabase {
  readonly engine = 'sqlite';
  /** The probability that something fails about a transaction. */
  trouble = 0;
  readonly #connection: SqliteConnection;
  readonly #turnstile = new Turnstile();
  readonly #kernel: Kernel | undefined;
  readonly #chance: Chance | undefined;
  /** The numbers of the transactions that were committed. */
  readonly #committed = new Set<number>();
  readonly #running = new Set<number>();
  #transactions = 0;

  /** Without a kernel nothing takes time, and nothing fails. */
  constructor(contents: Uint8Array | undefined, kernel?: Kernel, chance?: Chance) {
    this.#connection = new SqliteConnection(
      contents === undefined
        ? new Sqlite(':memory:', { strict: true })
        : Sqlite.deserialize(contents, { strict: true }),
    );
    this.#kernel = kernel;
    this.#chance = chance;
  }

  /** The contents of an empty database. Not in virtual time. */
  static empty(): Promise<Uint8Array> {
    empty ??= (async () => {
      const engine = new SimulatedEngine(undefined);
      await migrate(engine, { newId: () => 'first', now: () => 0 });
      return engine.#connection.sqlite.serialize();
    })();
    return empty;
  }

  query: OpenDatabase['query'] = (text, parameters) =>
    this.#turnstile.pass(async () => this.#connection.run(text, parameters));

  snapshot<T>(work: (reader: Queryable) => Promise<T>): Promise<T> {
    return this.#turnstile.pass(() => work(this.#statements()));
  }

  transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    const caller = Promise.withResolvers<T>();
    // The caller may go on while its COMMIT is still on its way.
    void this.#turnstile.pass(() => this.#run(work, caller));
    return caller.promise;
  }

  async #run<T>(
    work: (transaction: WriteTransaction) => Promise<T>,
    { resolve, reject }: PromiseWithResolvers<T>,
  ): Promise<void> {
    if (this.#chance?.happens(this.trouble / 2)) return reject(new StoreOutage('the database is away'));
    const id = ++this.#transactions;
    this.#running.add(id);
    this.#connection.run('BEGIN IMMEDIATE');
    let result: T;
    try {
      result = await this.#work(work);
    } catch (error) {
      this.#end(id, 'ROLLBACK');
      return reject(error);
    }

    const fate = this.#fate();
    const uncertain = new CommitUncertainError('the answer to COMMIT got lost', () => this.#outcomeOf(id));
    if (fate.startsWith('late')) {
      reject(uncertain);
      await this.#pause(400);
    }
    this.#end(id, fate === 'lost before' || fate === 'late abort' ? 'ROLLBACK' : 'COMMIT');
    if (fate === 'answered') resolve(result);
    else reject(uncertain);
  }

  async #work<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    const { query } = this.#statements();
    const last: [Statement, ((rows: readonly unknown[]) => void) | undefined][] = [];
    const batch = async (statements: readonly Statement[]) => {
      const results: (readonly unknown[])[] = [];
      for (const { text, parameters } of statements) results.push(await query(text, parameters));
      return results;
    };
    const result = await work({
      query,
      batch,
      atCommit: (statement, onRows) => {
        checkTexts(statement.parameters ?? []);
        last.push([statement, onRows]);
      },
      wake: () => {},
      lockForMigration: async () => {},
    });
    for (const [{ text, parameters }, onRows] of last) {
      const rows = await query(text, parameters);
      onRows?.(rows);
    }
    return result;
  }

  #statements(): Queryable {
    return {
      query: async (text, parameters) => {
        await this.#pause(2);
        return this.#connection.run(text, parameters);
      },
    };
  }

  #fate(): Fate {
    const fates = ['lost before', 'lost after', 'late commit', 'late abort'] as const;
    return this.#chance?.happens(this.trouble) ? this.#chance.pick(fates) : 'answered';
  }

  #end(id: number, how: 'COMMIT' | 'ROLLBACK'): void {
    this.#connection.run(how);
    this.#running.delete(id);
    if (how === 'COMMIT') this.#committed.add(id);
  }

  async #outcomeOf(id: number): Promise<'committed' | 'aborted' | undefined> {
    if (this.#running.has(id)) return undefined;
    return this.#committed.has(id) ? 'committed' : 'aborted';
  }

  async #pause(mostMs: number): Promise<void> {
    const [kernel, chance] = [this.#kernel, this.#chance];
    if (kernel && chance)
      await new Promise<void>((resolve) => void kernel.after(chance.between(0.1, mostMs), resolve));
  }

  yieldTo<T>(work: () => Promise<T>): Promise<T> {
    return this.#turnstile.pass(work);
  }

  announce(): void {}

  openLogSession(): Promise<never> {
    return Promise.reject(new StoreOutage('nothing follows a simulated engine'));
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}
