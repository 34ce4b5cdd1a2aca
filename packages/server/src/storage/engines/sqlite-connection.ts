import { SQLiteError, type Database as Sqlite, type Statement } from 'bun:sqlite';
import { basename } from 'node:path';
import { StorageError, StoreBusy, UnwritableDatabaseError } from '../../domain/errors.ts';
import { checkTexts, type Parameter } from '../database.ts';

/** Longer texts carry many rows, for which compiling them counts little: they are not cached. */
const CACHED_TEXT_LENGTH = 10_000;

/** Compiled statements kept at most; the program's own are far fewer. */
const CACHED_STATEMENTS = 200;

/** One SQLite connection with its compiled statements. Synchronous, as `bun:sqlite` is. */
export class SqliteConnection {
  readonly sqlite: Sqlite;
  readonly #statements = new Map<string, Statement>();

  /** Takes over an open connection. */
  constructor(sqlite: Sqlite) {
    this.sqlite = sqlite;
  }

  /** Runs one statement and returns its rows. Throws SQLite's errors; `invalid_argument` for text it cannot store. */
  run<Row>(text: string, parameters: readonly Parameter[] = []): Row[] {
    checkTexts(parameters);
    try {
      if (text.length > CACHED_TEXT_LENGTH) {
        using statement = this.sqlite.prepare(positional(text));
        // `Row`: the caller wrote the SQL and knows its columns.
        return statement.all(...parameters) as Row[];
      }
      // `Row`: the caller wrote the SQL and knows its columns.
      return this.#prepared(text).all(...parameters) as Row[];
    } catch (error) {
      throw isDamage(error) ? damaged(this.sqlite.filename, error) : error;
    }
  }

  /** Ends the connection at once. Safe to call twice. */
  close(): void {
    this.#statements.clear();
    this.sqlite.close(true);
  }

  #prepared(text: string): Statement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    if (this.#statements.size >= CACHED_STATEMENTS) {
      for (const statement of this.#statements.values()) statement.finalize();
      this.#statements.clear();
    }
    const statement = this.sqlite.prepare(positional(text));
    this.#statements.set(text, statement);
    return statement;
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '');
}

/** What refuses writes, by the beginning of SQLite's code. Reads may fail with the second one, too. */
const UNWRITABLE: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'its disk is full',
  SQLITE_IOERR: 'its disk reports errors',
  SQLITE_READONLY: 'its file is read-only',
};

/** Names what keeps a database from being written; returns any other error of a write as it is. */
export function toUnwritable(error: unknown): unknown {
  const cause = error instanceof Error && !('code' in error) ? error.cause : error;
  const code = cause instanceof SQLiteError ? (cause.code ?? '') : '';
  const found = Object.entries(UNWRITABLE).find(([beginning]) => code.startsWith(beginning));
  return found === undefined ? error : new UnwritableDatabaseError(found[1], { cause });
}

/** Without the folder, because the readiness answer shows this message to anyone. */
function damaged(path: string, cause: unknown): StorageError {
  const file = basename(path);
  return new StorageError(
    `The database file ${file} is damaged: stop Halyard, restore ${file} from a backup, and start it again.`,
    { cause },
  );
}

/** SQLite takes `$1` for a name; its numbered parameters are written `?1`. It compares bytes, as the collation C does. */
function positional(text: string): string {
  return text.replace(/\$(\d+)/g, '?$1').replaceAll(' COLLATE "C"', '');
}

/** How long one caller waits for another process to let go of the file. */
const PATIENCE_MS = 3_000;

/**
 * Runs `attempt` until it no longer throws SQLITE_BUSY, waiting in between without holding up the event loop, for at
 * most `patienceMs`. Pauses are 1 to 30 ms.
 */
export async function retryWhileBusy<T>(attempt: () => T, patienceMs = PATIENCE_MS): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 30)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await Bun.sleep(pauseMs);
    }
  }
}

/** {@link retryWhileBusy} for an operation of the store. Rejects with {@link StoreBusy} when the wait was too short. */
export async function waitWhileBusy<T>(attempt: () => T): Promise<T> {
  try {
    return await retryWhileBusy(attempt);
  } catch (error) {
    throw isBusy(error) ? new StoreBusy('another process holds the database file', { cause: error }) : error;
  }
}

/** Whether another connection holds the file, so that a retry can succeed. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}
