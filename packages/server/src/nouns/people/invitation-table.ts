import { CLOCK_TOLERANCE_MS } from '../../domain/clock.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type { Queryable } from '../../storage/database.ts';
import { RIGHTS_COLUMNS, rightsText, rightsValues } from '../../storage/rights.ts';
import type { Tx, UnloggedTx } from '../../storage/tx.ts';
import type { Invitation, InvitationKind } from './invitation.ts';
import { readRows } from './operator-table.ts';

const COLUMNS = `id, kind, email, ${RIGHTS_COLUMNS}, created_by AS "createdBy", made_with AS "madeWith",
  created_at AS "createdAt", expires_at AS "expiresAt", used_at AS "usedAt", revoked_at AS "revokedAt"`;

/** The links that are still open at `now` (epoch milliseconds), without `setup` links, newest first. */
export function readOpenInvitations(db: Queryable, now: number): Promise<readonly Invitation[]> {
  return readRows<Invitation>(
    db,
    `SELECT ${COLUMNS} FROM invitations
      WHERE kind <> 'setup' AND used_at IS NULL AND revoked_at IS NULL AND expires_at > $1 AND created_at <= $2
      ORDER BY created_at DESC, id DESC`,
    [now, now + CLOCK_TOLERANCE_MS],
  );
}

/** The link of this digest, also a used one. */
export async function readInvitationByDigest(db: Queryable, digest: string): Promise<Invitation | undefined> {
  const [found] = await readRows<Invitation>(db, `SELECT ${COLUMNS} FROM invitations WHERE digest = $1`, [
    digest,
  ]);
  return found;
}

/** The audit action of creating a link, by its kind. */
const OFFERED: Readonly<Record<InvitationKind, string>> = {
  setup: 'operator.setup_offered',
  invite: 'operator.invited',
  reset: 'operator.reset_offered',
};

/** Inserts a link. */
export async function insertInvitation(tx: Tx, invitation: Invitation, digest: string): Promise<void> {
  await insertRow(tx, invitation, digest);

  const { kind, email = '', expiresAt } = invitation;
  const after = JSON.stringify({ ...rightsText(invitation), expiresAt: isoTime(expiresAt) });
  tx.journal.audit({ action: OFFERED[kind], target: email, after });
}

/** Keeps a link for the first administrator; earlier ones of the same maker are revoked. Leaves no audit row. */
export async function insertSetup(tx: UnloggedTx, invitation: Invitation, digest: string): Promise<void> {
  await tx.query(
    `UPDATE invitations SET revoked_at = $1
      WHERE kind = 'setup' AND created_by = $2 AND used_at IS NULL AND revoked_at IS NULL`,
    [invitation.createdAt, invitation.createdBy],
  );
  await insertRow(tx, invitation, digest);
}

async function insertRow(tx: UnloggedTx, invitation: Invitation, digest: string): Promise<void> {
  const { id, kind, email = null, createdBy, madeWith = null, createdAt, expiresAt } = invitation;
  await tx.query(
    `INSERT INTO invitations (id, kind, digest, email, created_by, created_at, expires_at, role, can_change_protected,
        project_roles, made_with)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [id, kind, digest, email, createdBy, createdAt, expiresAt, ...rightsValues(invitation), madeWith],
  );
}

/** Marks a link used; `false` when it was used or revoked before. */
export async function takeInvitation(tx: Tx, { id }: Invitation, at: number): Promise<boolean> {
  const used = await tx.query(
    'UPDATE invitations SET used_at = $2 WHERE id = $1 AND used_at IS NULL AND revoked_at IS NULL RETURNING id',
    [id, at],
  );
  return used.length > 0;
}

/** Marks a link revoked. One that was used or revoked stays as it is. */
export async function storeRevocation(tx: Tx, invitation: Invitation, at: number): Promise<void> {
  const { id, kind, email = '' } = invitation;
  const revoked = await tx.query(
    `UPDATE invitations SET revoked_at = $2
      WHERE id = $1 AND used_at IS NULL AND revoked_at IS NULL RETURNING id`,
    [id, at],
  );
  if (revoked.length === 0) return;
  tx.journal.audit({ action: 'invitation.revoked', target: email, before: JSON.stringify({ kind }) });
}
