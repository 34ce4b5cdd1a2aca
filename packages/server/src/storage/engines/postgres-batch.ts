import pg from 'pg';
import type { Statement } from '../database.ts';

/** The messages of the extended protocol that pg's connection sends; its types describe an older form. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  on(event: 'parseComplete', listener: () => void): void;
  off(event: 'parseComplete', listener: () => void): void;
  parse(message: { readonly text: string; readonly name?: string }): void;
  bind(message: { readonly values: readonly unknown[]; readonly statement?: string }): void;
  describe(message: { readonly type: 'P' }): void;
  execute(message: object): void;
  sync(): void;
}

/** The part of pg's result that reads rows; its types lack it. */
interface ResultReader extends pg.QueryResult {
  addFields(fields: readonly unknown[]): void;
  parseRow(fields: readonly unknown[]): unknown;
  addCommandComplete(message: object): void;
}

/** pg's class of results, which its types lack. `_types`, which pg sets on every query, decides how columns are read. */
const Result = (pg as unknown as { Result: new (rowMode?: string, types?: unknown) => ResultReader }).Result;

/** Texts that one connection keeps prepared at most: more than the program uses often. */
const MAX_PREPARED = 100;

/** A statement that a connection keeps. */
interface Prepared {
  readonly name: string;
  /** The columns of its rows, once the server has described them. They stay: it refuses a plan whose columns have changed. */
  fields?: readonly unknown[];
}

/** Codes of a server that lacks a statement which was prepared, or has it already: there is a pooler in between. */
const CONFUSED: ReadonlySet<unknown> = new Set(['26000', '42P05']);

/**
 * Named statements, which a server parses and plans once for each connection. A name is made from its text, so that the
 * same name always means the same statement, on every connection. Behind a transaction pooler, a connection of the
 * server may change between two uses; if the new one lacks a statement or has it already, no more are prepared.
 */
export class PreparedStatements {
  readonly #known = new WeakMap<pg.Client, Map<string, Prepared>>();
  #isOff = false;

  /** What a connection keeps of a statement, and whether it has to be prepared; `undefined` for one without a name. */
  find(
    client: pg.Client,
    text: string,
  ): { readonly statement: Prepared; readonly isNew: boolean } | undefined {
    if (this.#isOff) return undefined;
    const known = this.#known.get(client) ?? new Map<string, Prepared>();
    this.#known.set(client, known);

    const found = known.get(text);
    if (found !== undefined) return { statement: found, isNew: false };
    if (known.size >= MAX_PREPARED) return undefined;

    const statement: Prepared = { name: `halyard_${Bun.hash(text).toString(36)}` };
    known.set(text, statement);
    return { statement, isNew: true };
  }

  /** Forgets texts that the server did not come to prepare. */
  forget(client: pg.Client, texts: readonly string[]): void {
    for (const text of texts) this.#known.get(client)?.delete(text);
  }

  /** Whether a transaction failed because of prepared statements. It can be run again, without them. */
  hasFailed(error: unknown): boolean {
    if (!(error instanceof pg.DatabaseError) || !CONFUSED.has(error.code)) return false;
    this.#isOff = true;
    return true;
  }
}

/**
 * Several statements that are sent at once, with one Sync behind the last: the server runs them in order, and skips all
 * that follow one that fails. pg itself sends a Sync after each, so a statement would still run when BEGIN has failed.
 * The names of the methods are pg's: `client.query` takes any object with `submit`.
 */
export class Batch {
  /** Set by pg before {@link submit}. */
  _result: { _types?: unknown } = {};
  readonly #statements: readonly Statement[];
  readonly #prepared: (text: string) => ReturnType<PreparedStatements['find']>;
  readonly #onEnd: (error: Error | undefined, results?: readonly pg.QueryResult[]) => void;
  /** The texts that the server has not parsed yet. */
  readonly unparsed: string[] = [];
  readonly #onParsed = () => void this.unparsed.shift();
  #stopListening = () => {};
  /** For each statement, where its columns are kept, if the server keeps it. */
  readonly #kept: (Prepared | undefined)[] = [];
  readonly #results: ResultReader[] = [];
  #failure: Error | undefined;
  #current: ResultReader | undefined;

  /** `onEnd` is called once: with the failure, or with a result for each statement. */
  constructor(
    statements: readonly Statement[],
    prepared: (text: string) => ReturnType<PreparedStatements['find']>,
    onEnd: (error: Error | undefined, results?: readonly pg.QueryResult[]) => void,
  ) {
    this.#statements = statements;
    this.#prepared = prepared;
    this.#onEnd = onEnd;
  }

  submit(connection: unknown): null {
    // `Wire`: see there.
    const wire = connection as Wire;
    wire.on('parseComplete', this.#onParsed);
    this.#stopListening = () => wire.off('parseComplete', this.#onParsed);

    wire.stream.cork();
    try {
      for (const { text, parameters = [] } of this.#statements) {
        const { statement, isNew = true } = this.#prepared(text) ?? {};
        const name = statement?.name ?? '';
        this.#kept.push(statement);
        if (isNew) {
          wire.parse({ text, name });
          this.unparsed.push(text);
        }

        const values = parameters.map((value) => (value === null ? null : String(value)));
        wire.bind({ statement: name, values });
        // The server names the columns once for each connection: to read that takes longer than to read a row.
        if (statement?.fields === undefined) wire.describe({ type: 'P' });
        wire.execute({});
      }
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly unknown[] }): void {
    this.#result().addFields(fields);
    const kept = this.#kept[this.#results.length];
    if (kept !== undefined) kept.fields = fields;
  }

  handleDataRow({ fields }: { readonly fields: readonly unknown[] }): void {
    const result = this.#result();
    result.rows.push(result.parseRow(fields));
  }

  handleCommandComplete(message: object): void {
    const result = this.#result();
    result.addCommandComplete(message);
    const kept = this.#kept[this.#results.length];
    // It has answered, and has no rows.
    if (kept !== undefined) kept.fields ??= [];
    this.#results.push(result);
    this.#current = undefined;
  }

  /** The failure of a statement, whose Sync the server still answers; or of the connection. */
  handleError(error: Error): void {
    this.#failure ??= error;
    this.#stopListening();
    this.#onEnd(this.#failure);
  }

  handleReadyForQuery(): void {
    this.#stopListening();
    if (this.#failure === undefined) this.#onEnd(undefined, this.#results);
  }

  #result(): ResultReader {
    if (this.#current !== undefined) return this.#current;
    this.#current = new Result('', this._result._types);
    const fields = this.#kept[this.#results.length]?.fields;
    if (fields !== undefined) this.#current.addFields(fields);
    return this.#current;
  }
}
