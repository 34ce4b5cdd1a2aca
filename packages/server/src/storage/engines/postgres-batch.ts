import pg from 'pg';
import type { Statement } from '../database.ts';

/** The messages of the extended protocol that pg's connection sends; its types describe an older form. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(message: { readonly text: string }): void;
  bind(message: { readonly values: readonly unknown[] }): void;
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

/** pg's class of results. `_types`, which pg sets on every query, decides how columns are read. */
const Result = (pg as unknown as { Result: new (rowMode?: string, types?: unknown) => ResultReader }).Result;

/**
 * Several statements that are sent at once, with one Sync behind the last: the server runs them in order, and skips all
 * that follow one that fails. pg itself sends a Sync after each, so a statement would still run when BEGIN has failed.
 * The names of the methods are pg's: `client.query` takes any object with `submit`.
 */
export class Batch {
  /** Set by pg before {@link submit}. */
  _result: { _types?: unknown } = {};
  readonly #statements: readonly Statement[];
  readonly #onEnd: (error: Error | undefined, results?: readonly pg.QueryResult[]) => void;
  readonly #results: ResultReader[] = [];
  #failure: Error | undefined;
  #current: ResultReader | undefined;

  /** `onEnd` is called once: with the failure, or with a result for each statement. */
  constructor(
    statements: readonly Statement[],
    onEnd: (error: Error | undefined, results?: readonly pg.QueryResult[]) => void,
  ) {
    this.#statements = statements;
    this.#onEnd = onEnd;
  }

  submit(connection: unknown): null {
    // `Wire`: see there.
    const wire = connection as Wire;
    wire.stream.cork();
    try {
      for (const { text, parameters = [] } of this.#statements) {
        wire.parse({ text });
        wire.bind({ values: parameters.map((value) => (value === null ? null : String(value))) });
        wire.describe({ type: 'P' });
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
  }

  handleDataRow({ fields }: { readonly fields: readonly unknown[] }): void {
    const result = this.#result();
    result.rows.push(result.parseRow(fields));
  }

  handleCommandComplete(message: object): void {
    const result = this.#result();
    result.addCommandComplete(message);
    this.#results.push(result);
    this.#current = undefined;
  }

  /** The failure of a statement, whose Sync the server still answers; or of the connection. */
  handleError(error: Error): void {
    this.#failure ??= error;
    this.#onEnd(this.#failure);
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#onEnd(undefined, this.#results);
  }

  #result(): ResultReader {
    this.#current ??= new Result('', this._result._types);
    return this.#current;
  }
}
