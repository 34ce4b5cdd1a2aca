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
import { type Kernel, Owner } from './kernel.ts';

/** How a transaction ends that was not refused: the caller is told so, or hears nothing of its COMMIT. */
type Fate = 'answered' | 'lost before' | 'lost after' | 'late commit' | 'late abort';

/** A database with the current schema and nothing in it: made once, because that takes longer than a history. */
let empty: Promise<Uint8Array> | undefined;

/** After so long without a statement, the server ends a transaction, as the PostgreSQL engine asks it to. In milliseconds. */
const IDLE_MS = 5_000;

/** A transaction or a snapshot, and the process that has it. */
interface Session {
  readonly owner: Owner | undefined;
  /** Rejects when the server has ended it. */
  readonly lost: PromiseWithResolvers<never>;
  isLost: boolean;
  stopIdling: () => void;
}

/**
 * SQLite in memory behind the faults of a server far away: each statement takes a while, the server is gone before a
 * transaction, and the answer to COMMIT gets lost, while the COMMIT itself comes at once, later, or never. One transaction
 * at a time, as writers of one database wait for the end of its log. Each process goes on in turns of its own.
 */
export class SimulatedEngine implements OpenDatabase {
  readonly engine = 'sqlite';
  /** The probability that something fails about a transaction. */
  trouble = 0;
  /** Called when something was committed. */
  onCommit: () => void = () => {};
  readonly #connection: SqliteConnection;
  readonly #turnstile = new Turnstile();
  readonly #kernel: Kernel | undefined;
  readonly #chance: Chance | undefined;
  readonly #server = new Owner('database', 0);
  readonly #sessions = new Set<Session>();
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

  /** What stands in the tables at this moment, for checks. */
  peek<Row>(text: string): Row[] {
    return this.#connection.run<Row>(text);
  }

  /** A process has died: the server ends what it had begun. */
  drop(owner: Owner): void {
    for (const session of [...this.#sessions]) if (session.owner === owner) this.#lose(session);
  }

  query: OpenDatabase['query'] = async (text, parameters) => {
    const owner = this.#kernel?.owner;
    const rows = await this.#turnstile.pass(async () => {
      await this.#reach(this.#server);
      return this.#connection.run<never>(text, parameters);
    });
    await this.#reach(owner);
    return rows;
  };

  async snapshot<T>(work: (reader: Queryable) => Promise<T>): Promise<T> {
    const owner = this.#kernel?.owner;
    const result = await this.#turnstile.pass(() =>
      this.#inSession(owner, (session) => work(this.#statements(session))),
    );
    await this.#reach(owner);
    return result;
  }

  transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    const caller = Promise.withResolvers<T>();
    const owner = this.#kernel?.owner;
    // The caller may go on while its COMMIT is still on its way.
    void this.#turnstile.pass(() => this.#run(work, owner, caller));
    return caller.promise;
  }

  async #run<T>(
    work: (transaction: WriteTransaction) => Promise<T>,
    owner: Owner | undefined,
    caller: PromiseWithResolvers<T>,
  ): Promise<void> {
    // Whatever becomes of it, its process hears of it in a turn of its own.
    const tell = (say: () => void) => void this.#reach(owner).then(say);
    await this.#reach(this.#server);
    if (this.#chance?.happens(this.trouble / 2))
      return tell(() => caller.reject(new StoreOutage('the database is away')));

    const id = ++this.#transactions;
    this.#running.add(id);
    this.#connection.run('BEGIN IMMEDIATE');
    let result: T;
    try {
      result = await this.#inSession(owner, (session) => this.#work(work, session));
    } catch (error) {
      this.#end(id, 'ROLLBACK');
      return tell(() => caller.reject(error));
    }

    const fate = this.#fate();
    const uncertain = new CommitUncertainError('the answer to COMMIT got lost', () => this.#outcomeOf(id));
    if (fate.startsWith('late')) {
      tell(() => caller.reject(uncertain));
      await this.#reach(this.#server, 400);
    }
    this.#end(id, fate === 'lost before' || fate === 'late abort' ? 'ROLLBACK' : 'COMMIT');
    tell(() => (fate === 'answered' ? caller.resolve(result) : caller.reject(uncertain)));
  }

  /** Lets a process work with the server, until one of them is gone. Settles in a turn of the server. */
  async #inSession<T>(owner: Owner | undefined, work: (session: Session) => Promise<T>): Promise<T> {
    const session: Session = { owner, lost: Promise.withResolvers(), isLost: false, stopIdling: () => {} };
    session.lost.promise.catch(() => {});
    this.#sessions.add(session);
    // It died while it waited for its turn.
    if (owner?.isAlive === false) this.#lose(session);
    this.#awaitNext(session);
    try {
      return await Promise.race([this.#reach(owner).then(() => work(session)), session.lost.promise]);
    } finally {
      session.stopIdling();
      this.#sessions.delete(session);
      await this.#reach(this.#server);
    }
  }

  async #work<T>(work: (transaction: WriteTransaction) => Promise<T>, session: Session): Promise<T> {
    const { query } = this.#statements(session);
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

  #statements(session: Session): Queryable {
    return {
      query: async (text, parameters) => {
        session.stopIdling();
        await this.#reach(this.#server);
        const answer = session.isLost
          ? undefined
          : this.#attempt(() => this.#connection.run<never>(text, parameters));
        this.#awaitNext(session);
        await this.#reach(session.owner);
        if (answer === undefined) throw new StoreOutage('the server has ended the transaction');
        if ('error' in answer) throw answer.error;
        return answer.rows;
      },
    };
  }

  #attempt<Row>(run: () => Row[]): { readonly rows: Row[] } | { readonly error: unknown } {
    try {
      return { rows: run() };
    } catch (error) {
      return { error };
    }
  }

  /** A process that stands still does not hold up others for long. */
  #awaitNext(session: Session): void {
    if (this.#kernel)
      session.stopIdling = this.#kernel.after(IDLE_MS, () => this.#lose(session), this.#server);
  }

  #lose(session: Session): void {
    session.stopIdling();
    session.isLost = true;
    session.lost.reject(new StoreOutage('the server has ended the transaction'));
  }

  #fate(): Fate {
    const fates = ['lost before', 'lost after', 'late commit', 'late abort'] as const;
    return this.#chance?.happens(this.trouble) ? this.#chance.pick(fates) : 'answered';
  }

  #end(id: number, how: 'COMMIT' | 'ROLLBACK'): void {
    this.#connection.run(how);
    this.#running.delete(id);
    if (how !== 'COMMIT') return;
    this.#committed.add(id);
    this.onCommit();
  }

  async #outcomeOf(id: number): Promise<'committed' | 'aborted' | undefined> {
    if (this.#running.has(id)) return undefined;
    return this.#committed.has(id) ? 'committed' : 'aborted';
  }

  /** What follows runs in a turn of that process, after the way to it; never, where it is dead. */
  async #reach(owner: Owner | undefined, mostMs = 1): Promise<void> {
    const [kernel, chance] = [this.#kernel, this.#chance];
    if (kernel && chance && owner)
      await new Promise<void>((resolve) => void kernel.after(chance.between(0.05, mostMs), resolve, owner));
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
