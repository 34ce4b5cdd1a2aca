import { CLOCK_TOLERANCE_MS } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import type {
  Credentials,
  FoundSession,
  Identity,
  Invitation,
  InvitationKind,
  Operator,
  PeopleReader,
  PeopleTransaction,
  Rights,
  Session,
} from '../domain/rights.ts';
import type { AuthorCheck } from './author-check.ts';
import type { Parameter, Queryable, WriteTransaction } from './database.ts';
import type { Journal } from './journal.ts';
import {
  RIGHTS_COLUMNS,
  RIGHTS_TEXT,
  type RightsRow,
  rightsText,
  rightsValues,
  withRights,
} from './rights.ts';
import { likeText } from './search.ts';

const OPERATOR_COLUMNS = `operators.id, email, name, ${RIGHTS_COLUMNS},
  sso_issuer AS "issuer", sso_subject AS "subject", operators.created_at AS "createdAt", last_seen_at AS "lastSeenAt"`;
const INVITATION_COLUMNS = `id, kind, email, ${RIGHTS_COLUMNS},
  created_by AS "createdBy", made_with AS "madeWith", created_at AS "createdAt", expires_at AS "expiresAt", used_at AS "usedAt",
  revoked_at AS "revokedAt"`;

/** An operator with the identity in two members, as the row has it. */
type FlatOperator = Omit<Operator, 'identity'> & { readonly issuer?: string; readonly subject?: string };

/** Reads of operators, sessions and links over one transaction or snapshot. */
export class SqlPeopleReader implements PeopleReader {
  readonly #queryable: Queryable;

  /** Reads through `queryable`, which decides what is seen. */
  constructor(queryable: Queryable) {
    this.#queryable = queryable;
  }

  async operators(): Promise<readonly Operator[]> {
    const operators = await this.#records<FlatOperator>(`SELECT ${OPERATOR_COLUMNS} FROM operators`);
    return operators.map(operatorOf).sort((a, b) => (a.email < b.email ? -1 : 1));
  }

  async operator(id: string): Promise<Operator | undefined> {
    const text = `SELECT ${OPERATOR_COLUMNS} FROM operators WHERE id = $1`;
    const [row] = await this.#records<FlatOperator>(text, id);
    return row && operatorOf(row);
  }

  async operatorByIdentity({ issuer, subject }: Identity): Promise<Operator | undefined> {
    const text = `SELECT ${OPERATOR_COLUMNS} FROM operators WHERE sso_issuer = $1 AND sso_subject = $2`;
    const [row] = await this.#records<FlatOperator>(text, issuer, subject);
    return row && operatorOf(row);
  }

  async operatorByEmail(email: string): Promise<Operator | undefined> {
    return (await this.credentials(email))?.operator;
  }

  async hasOperators(): Promise<boolean> {
    return (await this.#rows('SELECT id FROM operators LIMIT 1')).length > 0;
  }

  async credentials(email: string): Promise<Credentials | undefined> {
    const text = `SELECT ${OPERATOR_COLUMNS}, password_hash AS "passwordHash" FROM operators WHERE email = $1`;
    const [row] = await this.#records<FlatOperator & { readonly passwordHash: string }>(text, email);
    if (row === undefined) return undefined;
    const { passwordHash, ...operator } = row;
    return { operator: operatorOf(operator), passwordHash };
  }

  async session(digest: string): Promise<FoundSession | undefined> {
    const text = `SELECT ${OPERATOR_COLUMNS}, ${RIGHTS_TEXT} AS rights, sessions.created_at AS "startedAt",
        sessions.last_used_at AS "lastUsedAt"
      FROM sessions JOIN operators ON operators.id = sessions.operator_id WHERE digest = $1`;
    type Row = FlatOperator & { rights: string; startedAt: number; lastUsedAt: number };
    const [row] = await this.#records<Row>(text, digest);
    if (row === undefined) return undefined;
    const { rights, startedAt, lastUsedAt, ...columns } = row;
    const operator = operatorOf(columns);
    return {
      session: { digest, operatorId: operator.id, createdAt: startedAt, lastUsedAt },
      operator,
      credential: { kind: 'session', id: digest, rights },
    };
  }

  openInvitations(now: number): Promise<readonly Invitation[]> {
    return this.#records<Invitation>(
      `SELECT ${INVITATION_COLUMNS} FROM invitations
        WHERE kind <> 'setup' AND used_at IS NULL AND revoked_at IS NULL AND expires_at > $1 AND created_at <= $2
        ORDER BY created_at DESC, id DESC`,
      now,
      now + CLOCK_TOLERANCE_MS,
    );
  }

  async invitationByDigest(digest: string): Promise<Invitation | undefined> {
    const text = `SELECT ${INVITATION_COLUMNS} FROM invitations WHERE digest = $1`;
    return (await this.#records<Invitation>(text, digest))[0];
  }

  async #records<T extends Rights>(text: string, ...parameters: readonly Parameter[]): Promise<T[]> {
    return withRights<T>(this.#queryable, await this.#rows<RightsRow<T>>(text, ...parameters));
  }

  #rows<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]> {
    return this.#queryable.query<Row>(text, parameters);
  }
}

function operatorOf({ issuer, subject, ...operator }: FlatOperator): Operator {
  return issuer === undefined || subject === undefined
    ? operator
    : { ...operator, identity: { issuer, subject } };
}

/** The audit action of creating a link, by its kind. */
const OFFERED: Readonly<Record<InvitationKind, string>> = {
  setup: 'operator.setup_offered',
  invite: 'operator.invited',
  reset: 'operator.reset_offered',
};

/** Writes of operators, sessions and links in one write transaction. Each is recorded in the journal. */
export class SqlPeopleWriter extends SqlPeopleReader implements PeopleTransaction {
  readonly #sql: WriteTransaction;
  readonly #journal: Journal;
  readonly #author: AuthorCheck;

  /** Writes through `sql` and records it in `journal`. */
  constructor(sql: WriteTransaction, journal: Journal, author: AuthorCheck) {
    super(sql);
    this.#sql = sql;
    this.#journal = journal;
    this.#author = author;
  }

  /** The end of the log is the lock; people change seldom enough to wait for it from the beginning. */
  lock(): Promise<void> {
    return this.#author.lock(this.#sql);
  }

  async insertOperator(operator: Operator, passwordHash: string): Promise<void> {
    const { id, email, name, createdAt, identity } = operator;
    const inserted = await this.#rows(
      `INSERT INTO operators (id, email, name, password_hash, created_at, sso_issuer, sso_subject, role,
          can_change_protected, project_roles)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING RETURNING id`,
      ...[id, email, name, passwordHash, createdAt, identity?.issuer ?? null, identity?.subject ?? null],
      ...rightsValues(operator),
    );
    if (inserted.length === 0) {
      throw new ServiceError(
        'already_exists',
        `The operator "${email}" already exists: ask for a password reset.`,
      );
    }
    this.#journal.audit({ action: 'operator.joined', target: email, after: textOf(operator) });
  }

  async updateOperator(operator: Operator): Promise<void> {
    const known = await this.operator(operator.id);
    if (known === undefined || textOf(known) === textOf(operator)) return;
    const { id, email, name } = operator;
    await this.#rows(
      'UPDATE operators SET name = $2, role = $3, can_change_protected = $4, project_roles = $5 WHERE id = $1',
      ...[id, name, ...rightsValues(operator)],
    );
    const texts = { before: textOf(known), after: textOf(operator) };
    this.#journal.audit({ action: 'operator.changed', target: email, ...texts });
  }

  async linkOperator(operator: Operator, identity: Identity): Promise<void> {
    const { id, email } = operator;
    await this.#rows(
      `UPDATE operators SET sso_issuer = $2, sso_subject = $3, password_hash = '' WHERE id = $1`,
      ...[id, identity.issuer, identity.subject],
    );
    const texts = { before: textOf(operator), after: textOf({ ...operator, identity }) };
    this.#journal.audit({ action: 'operator.linked', target: email, ...texts });
  }

  async setPassword({ id, email }: Operator, passwordHash: string): Promise<void> {
    await this.#rows(
      'UPDATE operators SET password_hash = $2, sso_issuer = NULL, sso_subject = NULL WHERE id = $1',
      ...[id, passwordHash],
    );
    this.#journal.audit({ action: 'operator.password_changed', target: email });
  }

  async deleteOperator(operator: Operator): Promise<void> {
    await this.deleteSessionsOf(operator);
    const deleted = await this.#rows('DELETE FROM operators WHERE id = $1 RETURNING id', operator.id);
    if (deleted.length === 0) return;
    this.#journal.audit({ action: 'operator.removed', target: operator.email, before: textOf(operator) });
  }

  async insertSession({ digest, createdAt, lastUsedAt }: Session, { id, email }: Operator): Promise<void> {
    await this.#rows(
      'INSERT INTO sessions (digest, operator_id, created_at, last_used_at) VALUES ($1, $2, $3, $4)',
      ...[digest, id, createdAt, lastUsedAt],
    );
    await this.#rows('UPDATE operators SET last_seen_at = $2 WHERE id = $1', id, createdAt);
    this.#journal.audit({ action: 'session.started', target: email });
  }

  async deleteSession(digest: string, { email }: Operator): Promise<void> {
    const ended = await this.#rows('DELETE FROM sessions WHERE digest = $1 RETURNING operator_id', digest);
    if (ended.length > 0) this.#journal.audit({ action: 'session.ended', target: email });
  }

  async deleteSessionsOf({ id }: Operator, except = ''): Promise<void> {
    await this.#rows('DELETE FROM sessions WHERE operator_id = $1 AND digest <> $2', id, except);
  }

  async refuseSignOn({ email }: Operator, reason: string): Promise<void> {
    this.#journal.audit({ action: 'session.refused', target: email, after: JSON.stringify({ reason }) });
  }

  async useSignOn(digest: string, at: number): Promise<boolean> {
    const used = await this.#rows(
      'INSERT INTO used_sign_ons (digest, at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING digest',
      ...[digest, at],
    );
    return used.length > 0;
  }

  async insertInvitation(invitation: Invitation, digest: string): Promise<void> {
    await insertInvitation(this.#sql, invitation, digest);
    const { kind, email = '', expiresAt } = invitation;
    const after = JSON.stringify({ ...rightsText(invitation), expiresAt });
    this.#journal.audit({ action: OFFERED[kind], target: email, after });
  }

  async useInvitation({ id }: Invitation, at: number): Promise<boolean> {
    const used = await this.#rows(
      'UPDATE invitations SET used_at = $2 WHERE id = $1 AND used_at IS NULL AND revoked_at IS NULL RETURNING id',
      ...[id, at],
    );
    return used.length > 0;
  }

  async revokeInvitation({ id, kind, email = '' }: Invitation, at: number): Promise<void> {
    const revoked = await this.#rows(
      `UPDATE invitations SET revoked_at = $2
        WHERE id = $1 AND used_at IS NULL AND revoked_at IS NULL RETURNING id`,
      ...[id, at],
    );
    if (revoked.length === 0) return;
    this.#journal.audit({ action: 'invitation.revoked', target: email, before: JSON.stringify({ kind }) });
  }

  async forgetFailures(bucket: string): Promise<void> {
    const within = `${likeText(bucket)}@%`;
    const text = String.raw`DELETE FROM sign_in_failures WHERE bucket = $1 OR bucket LIKE $2 ESCAPE '\'`;
    await this.#rows(text, bucket, within);
  }

  #rows<Row>(text: string, ...parameters: readonly Parameter[]): Promise<Row[]> {
    return this.#sql.query<Row>(text, parameters);
  }
}

/** Inserts a link; leaves no audit row. */
export async function insertInvitation(
  sql: WriteTransaction,
  invitation: Invitation,
  digest: string,
): Promise<void> {
  const { id, kind, email = null, createdBy, madeWith = null, createdAt, expiresAt } = invitation;
  await sql.query(
    `INSERT INTO invitations (id, kind, digest, email, created_by, created_at, expires_at, role, can_change_protected,
        project_roles, made_with)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [id, kind, digest, email, createdBy, createdAt, expiresAt, ...rightsValues(invitation), madeWith],
  );
}

/** An operator as the audit log keeps it; `issuer` for one of single sign-on. */
function textOf(operator: Operator): string {
  const { name, identity } = operator;
  return JSON.stringify({ name, ...rightsText(operator), issuer: identity?.issuer });
}
