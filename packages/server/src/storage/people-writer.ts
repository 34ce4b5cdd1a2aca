import { ServiceError } from '../domain/errors.ts';
import type { Invitation, InvitationKind, Operator, PeopleTransaction, Session } from '../domain/people.ts';
import type { Parameter, WriteTransaction } from './database.ts';
import type { Journal } from './journal.ts';
import { likeText } from './like-text.ts';
import { SqlPeopleReader } from './people-reader.ts';

/** What the audit log calls the making of a link. */
const OFFERED: Readonly<Record<InvitationKind, string>> = {
  setup: 'operator.setup_offered',
  invite: 'operator.invited',
  reset: 'operator.reset_offered',
};

/** Writes of operators, sessions and links in one write transaction. What they did is noted in the journal. */
export class SqlPeopleWriter extends SqlPeopleReader implements PeopleTransaction {
  readonly #sql: WriteTransaction;
  readonly #journal: Journal;

  /** Writes through `sql` and notes deeds in `journal`. */
  constructor(sql: WriteTransaction, journal: Journal) {
    super(sql);
    this.#sql = sql;
    this.#journal = journal;
  }

  async lock(): Promise<void> {
    // The row that orders all commits; people change seldom enough to wait for it from the beginning.
    await this.#rows('UPDATE feed SET seq = seq WHERE id = 1');
  }

  async insertOperator(operator: Operator, passwordHash: string): Promise<void> {
    const { id, email, name, role, canChangeProtected, createdAt } = operator;
    const inserted = await this.#rows(
      `INSERT INTO operators (id, email, name, password_hash, role, can_change_protected, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING id`,
      ...[id, email, name, passwordHash, role, canChangeProtected ? 1 : 0, createdAt],
    );
    if (inserted.length === 0) {
      throw new ServiceError(
        'already_exists',
        `There is already an operator "${email}": ask for a new password.`,
      );
    }
    this.#journal.deed({ action: 'operator.joined', target: email, after: textOf(operator) });
  }

  async updateOperator(operator: Operator): Promise<void> {
    const known = await this.operator(operator.id);
    if (known === undefined || textOf(known) === textOf(operator)) return;
    const { id, email, name, role, canChangeProtected } = operator;
    await this.#rows(
      'UPDATE operators SET name = $2, role = $3, can_change_protected = $4 WHERE id = $1',
      ...[id, name, role, canChangeProtected ? 1 : 0],
    );
    const texts = { before: textOf(known), after: textOf(operator) };
    this.#journal.deed({ action: 'operator.changed', target: email, ...texts });
  }

  async setPassword({ id, email }: Operator, passwordHash: string): Promise<void> {
    await this.#rows('UPDATE operators SET password_hash = $2 WHERE id = $1', id, passwordHash);
    this.#journal.deed({ action: 'operator.password_changed', target: email });
  }

  async deleteOperator(operator: Operator): Promise<void> {
    await this.deleteSessionsOf(operator);
    const deleted = await this.#rows('DELETE FROM operators WHERE id = $1 RETURNING id', operator.id);
    if (deleted.length === 0) return;
    this.#journal.deed({ action: 'operator.removed', target: operator.email, before: textOf(operator) });
  }

  async insertSession({ digest, createdAt, lastUsedAt }: Session, { id, email }: Operator): Promise<void> {
    await this.#rows(
      'INSERT INTO sessions (digest, operator_id, created_at, last_used_at) VALUES ($1, $2, $3, $4)',
      ...[digest, id, createdAt, lastUsedAt],
    );
    await this.#rows('UPDATE operators SET last_seen_at = $2 WHERE id = $1', id, createdAt);
    this.#journal.deed({ action: 'session.started', target: email });
  }

  async deleteSession(digest: string, { email }: Operator): Promise<void> {
    const ended = await this.#rows('DELETE FROM sessions WHERE digest = $1 RETURNING operator_id', digest);
    if (ended.length > 0) this.#journal.deed({ action: 'session.ended', target: email });
  }

  async deleteSessionsOf({ id }: Operator, except = ''): Promise<void> {
    await this.#rows('DELETE FROM sessions WHERE operator_id = $1 AND digest <> $2', id, except);
  }

  async insertInvitation(invitation: Invitation, digest: string): Promise<void> {
    await insertInvitation(this.#sql, invitation, digest);
    const { kind, email = '', role, canChangeProtected, expiresAt } = invitation;
    const after = JSON.stringify({ role, canChangeProtected, expiresAt });
    this.#journal.deed({ action: OFFERED[kind], target: email, after });
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
    this.#journal.deed({ action: 'invitation.revoked', target: email, before: JSON.stringify({ kind }) });
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
  const { id, kind, email = null, role, canChangeProtected, createdBy, createdAt, expiresAt } = invitation;
  await sql.query(
    `INSERT INTO invitations (id, kind, digest, email, role, can_change_protected, created_by, created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, kind, digest, email, role, canChangeProtected ? 1 : 0, createdBy, createdAt, expiresAt],
  );
}

/** What the audit log keeps of an operator. */
function textOf({ name, role, canChangeProtected }: Operator): string {
  return JSON.stringify({ name, role, canChangeProtected });
}
