import { ServiceError } from '../../domain/errors.ts';
import type { Rights } from '../../domain/rights.ts';
import type { Parameter, Queryable } from '../../storage/database.ts';
import {
  RIGHTS_COLUMNS,
  type RightsRow,
  rightsText,
  rightsValues,
  withRights,
} from '../../storage/rights.ts';
import type { Tx } from '../../storage/tx.ts';
import type { Credentials, Identity, Operator } from './operator.ts';

/** The columns of a {@link FlatOperator}. */
export const OPERATOR_COLUMNS = `operators.id, email, name, ${RIGHTS_COLUMNS},
  sso_issuer AS "issuer", sso_subject AS "subject", operators.created_at AS "createdAt", last_seen_at AS "lastSeenAt",
  vouched_until AS "vouchedUntil"`;

/** An operator with the identity in two members, as the row has it. */
export type FlatOperator = Omit<Operator, 'identity'> & {
  readonly issuer?: string;
  readonly subject?: string;
};

/** All operators, by e-mail. */
export async function readOperators(db: Queryable): Promise<readonly Operator[]> {
  const operators = await readRows<FlatOperator>(db, `SELECT ${OPERATOR_COLUMNS} FROM operators`);
  return operators.map(operatorOf).sort((a, b) => (a.email < b.email ? -1 : 1));
}

/** The operator of an id. */
export async function readOperator(db: Queryable, id: string): Promise<Operator | undefined> {
  const text = `SELECT ${OPERATOR_COLUMNS} FROM operators WHERE id = $1`;
  const [row] = await readRows<FlatOperator>(db, text, [id]);
  return row && operatorOf(row);
}

/** The operator who signs in as this identity. */
export async function readOperatorByIdentity(
  db: Queryable,
  { issuer, subject }: Identity,
): Promise<Operator | undefined> {
  const text = `SELECT ${OPERATOR_COLUMNS} FROM operators WHERE sso_issuer = $1 AND sso_subject = $2`;
  const [row] = await readRows<FlatOperator>(db, text, [issuer, subject]);
  return row && operatorOf(row);
}

/** The operator of an e-mail, which is in lower case. */
export async function readOperatorByEmail(db: Queryable, email: string): Promise<Operator | undefined> {
  return (await readCredentials(db, email))?.operator;
}

/** Whether there is an operator. */
export async function hasOperators(db: Queryable): Promise<boolean> {
  return (await db.query('SELECT id FROM operators LIMIT 1')).length > 0;
}

/** The operator of an e-mail with the hash of the password. */
export async function readCredentials(db: Queryable, email: string): Promise<Credentials | undefined> {
  const text = `SELECT ${OPERATOR_COLUMNS}, password_hash AS "passwordHash" FROM operators WHERE email = $1`;
  const [row] = await readRows<FlatOperator & { readonly passwordHash: string }>(db, text, [email]);
  if (row === undefined) return undefined;

  const { passwordHash, ...operator } = row;
  return { operator: operatorOf(operator), passwordHash };
}

/** The records of rows with rights: of operators, or joined with them. */
export async function readRows<T extends Rights>(
  db: Queryable,
  text: string,
  parameters: readonly Parameter[] = [],
): Promise<T[]> {
  return withRights<T>(db, await db.query<RightsRow<T>>(text, parameters));
}

/** The operator of a row. */
export function operatorOf({ issuer, subject, ...operator }: FlatOperator): Operator {
  if (issuer === undefined || subject === undefined) return operator;
  return { ...operator, identity: { issuer, subject } };
}

/** Inserts an operator; the hash is empty for one without a password. `already_exists` for a second one of that e-mail. */
export async function insertOperator(tx: Tx, operator: Operator, passwordHash: string): Promise<void> {
  const { id, email, name, createdAt, identity } = operator;
  const [issuer, subject] = [identity?.issuer ?? null, identity?.subject ?? null];

  const inserted = await tx.query(
    `INSERT INTO operators (id, email, name, password_hash, created_at, sso_issuer, sso_subject, role,
        can_change_protected, project_roles)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING RETURNING id`,
    [id, email, name, passwordHash, createdAt, issuer, subject, ...rightsValues(operator)],
  );
  if (inserted.length === 0)
    throw new ServiceError(
      'already_exists',
      `The operator "${email}" already exists: ask for a password reset.`,
    );

  tx.journal.audit({ action: 'operator.joined', target: email, after: textOf(operator) });
}

/** Replaces name and rights. */
export async function storeOperator(tx: Tx, operator: Operator): Promise<void> {
  const known = await readOperator(tx, operator.id);
  if (known === undefined || textOf(known) === textOf(operator)) return;

  const { id, email, name } = operator;
  await tx.query(
    'UPDATE operators SET name = $2, role = $3, can_change_protected = $4, project_roles = $5 WHERE id = $1',
    [id, name, ...rightsValues(operator)],
  );

  const [before, after] = [textOf(known), textOf(operator)];
  tx.journal.audit({ action: 'operator.changed', target: email, before, after });
}

/** From now on the operator signs in as this identity: the password is forgotten. */
export async function storeIdentity(tx: Tx, operator: Operator, identity: Identity): Promise<void> {
  await tx.query(`UPDATE operators SET sso_issuer = $2, sso_subject = $3, password_hash = '' WHERE id = $1`, [
    operator.id,
    identity.issuer,
    identity.subject,
  ]);

  const [before, after] = [textOf(operator), textOf({ ...operator, identity })];
  tx.journal.audit({ action: 'operator.linked', target: operator.email, before, after });
}

/** Notes until when what the identity provider has just said counts. The sign-in itself leaves the audit entry. */
export async function storeVouched(tx: Tx, { id }: Operator, until: number): Promise<void> {
  await tx.query('UPDATE operators SET vouched_until = $2 WHERE id = $1', [id, until]);
}

/** From now on the operator signs in with this password: an identity is forgotten. */
export async function storePassword(tx: Tx, { id, email }: Operator, passwordHash: string): Promise<void> {
  await tx.query(
    `UPDATE operators SET password_hash = $2, sso_issuer = NULL, sso_subject = NULL, vouched_until = NULL
      WHERE id = $1`,
    [id, passwordHash],
  );
  tx.journal.audit({ action: 'operator.password_changed', target: email });
}

/** Removes an operator with the sessions. */
export async function removeOperator(tx: Tx, operator: Operator): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE operator_id = $1', [operator.id]);
  const removed = await tx.query('DELETE FROM operators WHERE id = $1 RETURNING id', [operator.id]);
  if (removed.length === 0) return;
  tx.journal.audit({ action: 'operator.removed', target: operator.email, before: textOf(operator) });
}

/** An operator as the audit log keeps it; `issuer` for one of single sign-on. */
function textOf(operator: Operator): string {
  const { name, identity } = operator;
  return JSON.stringify({ name, ...rightsText(operator), issuer: identity?.issuer });
}
