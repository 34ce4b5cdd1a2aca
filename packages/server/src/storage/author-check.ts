import type { Actor, ReferencePlace } from '../domain/audit.ts';
import { type Credential, SESSION_LIFETIME } from '../domain/rights.ts';
import { AssertionFailed, asserted, type Parameter, type WriteTransaction } from './database.ts';
import { RIGHTS_TEXT, TOKEN_RIGHTS_TEXT } from './rights.ts';
import { placeholders } from './rows.ts';

/** Locks the end of the log, which every transaction that writes an audit row locks before it commits. */
export const LOCK_END = 'UPDATE feed SET seq = seq WHERE id = 1';

/** Counts the record of a credential with the same rights: its id, its rights and a time are the parameters from `first` on. */
const COUNT: Readonly<Record<Credential['kind'], (first: number) => string>> = {
  token: (
    first,
  ) => `SELECT count(*) FROM access_tokens WHERE id = $${first} AND ${TOKEN_RIGHTS_TEXT} = $${first + 1}
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $${first + 2})
    AND NOT EXISTS (SELECT 1 FROM operators WHERE operators.id = access_tokens.owner AND vouched_until <= $${first + 2})`,
  // The request itself is a use of the session, so only its longest life counts.
  session: (first) => `SELECT count(*) FROM sessions JOIN operators ON operators.id = operator_id
    WHERE digest = $${first} AND ${RIGHTS_TEXT} = $${first + 1} AND sessions.created_at > $${first + 2}`,
};

/** The id of a closed reference. */
export function referenceId({ actor, reference }: ReferencePlace): string {
  return `${reference} ${actor}`;
}

/** The columns of a statement that asserts the rights, with their parameters. */
interface Columns {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** What is checked of the author of a change. */
type Author = Pick<Actor, 'name' | 'credential' | 'reference'>;

/**
 * Checks once that the authors of a transaction have their rights, and that none of them has closed the reference of its request.
 * Whatever ends or changes rights also writes an audit row, and so locks the end of the log before it commits, as closing a
 * reference does. The check runs under that lock: what has committed before is seen, and what commits later comes later in the log.
 */
export class AuthorCheck {
  readonly #credentials: readonly Credential[];
  readonly #references: readonly string[];
  readonly #now: () => number;
  #isDone = false;

  /** Of these authors; equal credentials and references are checked once. `now` returns epoch milliseconds. */
  constructor(authors: readonly Author[], now: () => number) {
    const distinct = new Map(
      authors.flatMap(({ credential }) =>
        credential === undefined ? [] : [[JSON.stringify(credential), credential] as const],
      ),
    );
    // In one order of kinds, so that there are few texts to prepare.
    this.#credentials = [...distinct.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1));
    const references = authors.flatMap(({ name, reference }) =>
      reference === undefined ? [] : [referenceId({ actor: name, reference })],
    );
    this.#references = [...new Set(references)];
    this.#now = now;
  }

  /** Locks the end of the log and checks: later statements of the transaction may end the author's own rights. */
  async lock(sql: WriteTransaction): Promise<void> {
    const { text, parameters } = this.columns(1);
    if (text === '') return void (await sql.query(LOCK_END));
    const [, [row] = []] = await sql.batch([{ text: LOCK_END }, { text: `SELECT ${text}`, parameters }]);
    this.verify(row);
  }

  /** Checks, for a transaction that has nothing to commit. */
  async check(sql: WriteTransaction): Promise<void> {
    const { text, parameters } = this.columns(1);
    if (text === '') return;
    const [row] = await sql.query(`SELECT ${text}`, parameters);
    this.verify(row);
  }

  /** The columns to select under the lock, with parameters from `$first` on; empty when nothing is left to check. */
  columns(first: number): Columns {
    if (this.#isDone) return { text: '', parameters: [] };
    const now = this.#now();
    const asserts = this.#credentials.map(({ kind }, index) => asserted(COUNT[kind](first + 3 * index)));
    if (this.#references.length > 0) {
      const ids = placeholders(this.#references.length, first - 1 + 3 * this.#credentials.length);
      const isClosed = `EXISTS (SELECT 1 FROM closed_references WHERE id IN (${ids}))`;
      asserts.push(asserted(`CASE WHEN ${isClosed} THEN 0 ELSE 1 END`));
    }
    return {
      text: asserts.map((assert, index) => `${assert} AS "${HELD}${index}"`).join(', '),
      parameters: [
        ...this.#credentials.flatMap(({ kind, id, rights, longestMs = SESSION_LIFETIME.absoluteMs }) => [
          ...[id, rights],
          kind === 'token' ? now : now - longestMs,
        ]),
        ...this.#references,
      ],
    };
  }

  /** Rejects a row of these columns that shows an author without the rights, or a closed reference. PostgreSQL returns none. */
  verify(row: unknown): void {
    const entries = Object.entries(row ?? {});
    if (entries.some(([name, value]) => name.startsWith(HELD) && value === null)) throw new AssertionFailed();
    this.#isDone = true;
  }
}

/** The beginning of the names of the columns. */
const HELD = 'held';
