import type { Credentials, Invitation, Operator, PeopleReader, Session } from '../domain/people.ts';
import { type NullableColumns, withoutNulls } from './columns.ts';
import type { Parameter, Queryable } from './database.ts';

const OPERATOR_COLUMNS = `operators.id, email, name, role, can_change_protected AS "canChangeProtected",
  operators.created_at AS "createdAt", last_seen_at AS "lastSeenAt"`;
const INVITATION_COLUMNS = `id, kind, email, role, can_change_protected AS "canChangeProtected",
  created_by AS "createdBy", created_at AS "createdAt", expires_at AS "expiresAt", used_at AS "usedAt",
  revoked_at AS "revokedAt"`;

/** A record as its row has it: the engines have no booleans in common. */
type RowOf<T extends { canChangeProtected: boolean }> = NullableColumns<Omit<T, 'canChangeProtected'>> & {
  readonly canChangeProtected: number;
};

/** Reads of operators, sessions and links over one transaction or snapshot. */
export class SqlPeopleReader implements PeopleReader {
  readonly #queryable: Queryable;

  /** Reads through `queryable`, which decides what is seen. */
  constructor(queryable: Queryable) {
    this.#queryable = queryable;
  }

  async operators(): Promise<readonly Operator[]> {
    const rows = await this.#rows<RowOf<Operator>>(`SELECT ${OPERATOR_COLUMNS} FROM operators`);
    return rows.map((row) => withFlag<Operator>(row)).sort((a, b) => (a.email < b.email ? -1 : 1));
  }

  async operator(id: string): Promise<Operator | undefined> {
    const text = `SELECT ${OPERATOR_COLUMNS} FROM operators WHERE id = $1`;
    const [row] = await this.#rows<RowOf<Operator>>(text, id);
    return row === undefined ? undefined : withFlag<Operator>(row);
  }

  async operatorByEmail(email: string): Promise<Operator | undefined> {
    return (await this.credentials(email))?.operator;
  }

  async hasOperators(): Promise<boolean> {
    return (await this.#rows('SELECT id FROM operators LIMIT 1')).length > 0;
  }

  async credentials(email: string): Promise<Credentials | undefined> {
    const text = `SELECT ${OPERATOR_COLUMNS}, password_hash AS "passwordHash" FROM operators WHERE email = $1`;
    const [row] = await this.#rows<RowOf<Operator> & { readonly passwordHash: string }>(text, email);
    if (row === undefined) return undefined;
    const { passwordHash, ...operator } = row;
    return { operator: withFlag<Operator>(operator), passwordHash };
  }

  async session(digest: string): Promise<{ session: Session; operator: Operator } | undefined> {
    const text = `SELECT ${OPERATOR_COLUMNS}, sessions.created_at AS "startedAt",
        sessions.last_used_at AS "lastUsedAt"
      FROM sessions JOIN operators ON operators.id = sessions.operator_id WHERE digest = $1`;
    const [row] = await this.#rows<RowOf<Operator> & { startedAt: number; lastUsedAt: number }>(text, digest);
    if (row === undefined) return undefined;
    const { startedAt, lastUsedAt, ...columns } = row;
    const operator = withFlag<Operator>(columns);
    return { session: { digest, operatorId: operator.id, createdAt: startedAt, lastUsedAt }, operator };
  }

  async openInvitations(now: number): Promise<readonly Invitation[]> {
    const rows = await this.#rows<RowOf<Invitation>>(
      `SELECT ${INVITATION_COLUMNS} FROM invitations
        WHERE kind <> 'setup' AND used_at IS NULL AND revoked_at IS NULL AND expires_at > $1
        ORDER BY created_at DESC, id DESC`,
      now,
    );
    return rows.map((row) => withFlag<Invitation>(row));
  }

  async invitationByDigest(digest: string): Promise<Invitation | undefined> {
    const text = `SELECT ${INVITATION_COLUMNS} FROM invitations WHERE digest = $1`;
    const [row] = await this.#rows<RowOf<Invitation>>(text, digest);
    return row === undefined ? undefined : withFlag<Invitation>(row);
  }

  #rows<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]> {
    return this.#queryable.query<Row>(text, parameters);
  }
}

function withFlag<T extends { canChangeProtected: boolean }>({ canChangeProtected, ...row }: RowOf<T>): T {
  // `T`: what `RowOf` takes from it, this puts back: the absent members and the boolean.
  const members = withoutNulls<object>(row);
  return { ...members, canChangeProtected: canChangeProtected !== 0 } as T;
}
