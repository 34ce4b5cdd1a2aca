import { defined } from '@halyard/protocol';
import { ServiceError } from '../domain/errors.ts';
import type { RelayReader, RelayToken, RelayTransaction, StoredRelay } from '../domain/relay-token.ts';
import type { Queryable, WriteTransaction } from './database.ts';
import type { Journal } from './journal.ts';
import { type NullableColumns, parseTextList, withoutNulls } from './rows.ts';

type RelayRow = NullableColumns<Omit<RelayToken, 'projects' | 'environments'>> & ScopeColumns;

interface ScopeColumns {
  readonly projects: string | null;
  readonly environments: string | null;
}

/** The tokens that may follow the log now. */
export async function readStoredRelays(queryable: Queryable): Promise<readonly StoredRelay[]> {
  const rows = await queryable.query<{ id: string; digest: string } & ScopeColumns>(
    'SELECT id, digest, projects, environments FROM relay_tokens WHERE revoked_at IS NULL',
  );
  return rows.map((row) => ({ id: row.id, digest: row.digest, ...scopeOf(row) }));
}

/** Reads of relay tokens over one transaction or snapshot. */
export class SqlRelayReader implements RelayReader {
  readonly #queryable: Queryable;

  /** Reads through `queryable`, which decides what is seen. */
  constructor(queryable: Queryable) {
    this.#queryable = queryable;
  }

  async list(): Promise<readonly RelayToken[]> {
    const rows = await this.#queryable.query<RelayRow>(
      `SELECT id, name, projects, environments, created_at AS "createdAt", revoked_at AS "revokedAt",
        last_used_at AS "lastUsedAt" FROM relay_tokens`,
    );
    return rows
      .map(({ projects, environments, ...row }) => ({
        ...withoutNulls<Omit<RelayToken, 'projects' | 'environments'>>(row),
        ...scopeOf({ projects, environments }),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.createdAt - b.createdAt));
  }
}

/** Writes of relay tokens in one write transaction. Each is recorded in the journal. */
export class SqlRelayWriter extends SqlRelayReader implements RelayTransaction {
  readonly #sql: WriteTransaction;
  readonly #journal: Journal;

  /** Writes through `sql` and records it in `journal`. */
  constructor(sql: WriteTransaction, journal: Journal) {
    super(sql);
    this.#sql = sql;
    this.#journal = journal;
  }

  async insert(token: RelayToken, digest: string): Promise<void> {
    const { id, name, projects, environments, createdAt } = token;
    const parameters = [id, name, digest, textOf(projects), textOf(environments), createdAt];
    // The name is unique while the token can be used: a revoked one gives up its name.
    const inserted = await this.#sql.query(
      `INSERT INTO relay_tokens (id, name, active_name, digest, projects, environments, created_at)
        VALUES ($1, $2, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING id`,
      parameters,
    );
    if (inserted.length === 0) {
      const message = `The relay token "${name}" already exists: choose another name.`;
      throw new ServiceError('already_exists', message);
    }
    const scope = defined({ projects, environments });
    const after = JSON.stringify({ name, ...scope });
    this.#journal.change({ kind: 'relay.created', projectId: '', payload: { id, digest, ...scope } }, [
      { action: 'relay.created', target: id, after },
    ]);
  }

  async revoke({ id, name }: RelayToken, at: number): Promise<void> {
    const [revoked] = await this.#sql.query<{ digest: string }>(
      `UPDATE relay_tokens SET revoked_at = $1, active_name = NULL
        WHERE id = $2 AND revoked_at IS NULL RETURNING digest`,
      [at, id],
    );
    if (revoked === undefined) return;
    const payload = { id, digest: revoked.digest };
    this.#journal.change({ kind: 'relay.revoked', projectId: '', payload }, [
      { action: 'relay.revoked', target: id, before: JSON.stringify({ name }) },
    ]);
  }
}

function textOf(list: readonly string[] | undefined): string | null {
  return list === undefined ? null : JSON.stringify(list);
}

/** A damaged list is empty: such a token gets nothing. */
function scopeOf({ projects, environments }: ScopeColumns) {
  return {
    ...(projects === null ? {} : { projects: parseTextList(projects) }),
    ...(environments === null ? {} : { environments: parseTextList(environments) }),
  };
}
