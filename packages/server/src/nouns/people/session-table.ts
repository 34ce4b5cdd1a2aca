import { CLOCK_TOLERANCE_MS } from '../../domain/clock.ts';
import { SESSION_LIFETIME } from '../../domain/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import { RIGHTS_TEXT } from '../../storage/rights.ts';
import type { Tx, UnloggedTx } from '../../storage/tx.ts';
import { type FoundSession, type Operator, type Session, SIGN_ON_MS } from './operator.ts';
import { type FlatOperator, OPERATOR_COLUMNS, operatorOf, readRows } from './operator-table.ts';

/** How long links that have ended are kept, in milliseconds. */
const ENDED_LINKS_MS = 30 * 86_400_000;

/** A session and its operator, even after the session's end. */
export async function readSession(db: Queryable, digest: string): Promise<FoundSession | undefined> {
  type Row = FlatOperator & { rights: string; startedAt: number; lastUsedAt: number };
  const [row] = await readRows<Row>(
    db,
    `SELECT ${OPERATOR_COLUMNS}, ${RIGHTS_TEXT} AS rights, sessions.created_at AS "startedAt",
        sessions.last_used_at AS "lastUsedAt"
      FROM sessions JOIN operators ON operators.id = sessions.operator_id WHERE digest = $1`,
    [digest],
  );
  if (row === undefined) return undefined;

  const { rights, startedAt, lastUsedAt, ...columns } = row;
  const operator = operatorOf(columns);
  return {
    session: { digest, operatorId: operator.id, createdAt: startedAt, lastUsedAt },
    operator,
    credential: { kind: 'session', id: digest, rights },
  };
}

/** The sessions of an operator, also after their end, the last started first. */
export async function readSessionsOf(
  db: Queryable,
  { id }: Pick<Operator, 'id'>,
): Promise<readonly Session[]> {
  return db.query<Session>(
    `SELECT digest, operator_id AS "operatorId", created_at AS "createdAt", last_used_at AS "lastUsedAt"
      FROM sessions WHERE operator_id = $1 ORDER BY created_at DESC, digest`,
    [id],
  );
}

/** Records a sign-in. */
export async function insertSession(tx: Tx, session: Session, { id, email }: Operator): Promise<void> {
  const { digest, createdAt, lastUsedAt } = session;
  await tx.query(
    'INSERT INTO sessions (digest, operator_id, created_at, last_used_at) VALUES ($1, $2, $3, $4)',
    [digest, id, createdAt, lastUsedAt],
  );
  await tx.query('UPDATE operators SET last_seen_at = $2 WHERE id = $1', [id, createdAt]);
  tx.journal.audit({ action: 'session.started', target: email });
}

/** Records a sign-out, unless the session does not exist. */
export async function removeSession(tx: Tx, digest: string, { email }: Operator): Promise<void> {
  const ended = await tx.query('DELETE FROM sessions WHERE digest = $1 RETURNING operator_id', [digest]);
  if (ended.length > 0) tx.journal.audit({ action: 'session.ended', target: email });
}

/** Ends the operator's sessions, except the one with the digest `except`. */
export async function removeSessionsOf(tx: Tx, { id }: Operator, except = ''): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE operator_id = $1 AND digest <> $2', [id, except]);
}

/** Records that the operator's single sign-on was refused, by a code for the reason. */
export function storeRefusal(tx: Tx, { email }: Operator, reason: string): void {
  tx.journal.audit({ action: 'session.refused', target: email, after: JSON.stringify({ reason }) });
}

/** Marks the single sign-on with this digest used; `false` when it was used before. Leaves no audit row. */
export async function takeSignOn(tx: UnloggedTx, digest: string, at: number): Promise<boolean> {
  const used = await tx.query(
    'INSERT INTO used_sign_ons (digest, at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING digest',
    [digest, at],
  );
  return used.length > 0;
}

/** Notes that the session, and so its operator, was active at `at`. */
export async function storeUse(tx: UnloggedTx, { digest, operatorId }: Session, at: number): Promise<void> {
  await tx.query('UPDATE sessions SET last_used_at = $2 WHERE digest = $1 AND last_used_at < $2', [
    digest,
    at,
  ]);
  await tx.query(
    `UPDATE operators SET last_seen_at = $2
      WHERE id = $1 AND (last_seen_at IS NULL OR last_seen_at < $2 OR last_seen_at > $3)`,
    [operatorId, at, at + CLOCK_TOLERANCE_MS],
  );
}

/** Removes sessions that have ended, counts whose window has, old marks of sign-ons, and links that ended a month ago. */
export async function removeEnded(tx: UnloggedTx, now: number, windowMs: number): Promise<void> {
  const { idleMs, absoluteMs } = SESSION_LIFETIME;
  await tx.query('DELETE FROM sessions WHERE last_used_at <= $1 OR created_at <= $2', [
    now - idleMs,
    now - absoluteMs,
  ]);
  await tx.query('DELETE FROM sign_in_failures WHERE since <= $1', [now - windowMs]);
  // Twice as long as one is accepted, as the clocks of two nodes may differ.
  await tx.query('DELETE FROM used_sign_ons WHERE at <= $1', [now - 2 * SIGN_ON_MS]);
  await tx.query('DELETE FROM invitations WHERE expires_at <= $1', [now - ENDED_LINKS_MS]);
}
