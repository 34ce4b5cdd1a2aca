import { CLOCK_TOLERANCE_MS } from '../../domain/clock.ts';
import type { Environment } from '../../domain/project.ts';
import type { Queryable } from '../../storage/database.ts';
import { type NullableColumns, withoutNulls } from '../../storage/rows.ts';
import type { Tx, UnloggedTx } from '../../storage/tx.ts';
import { LEASE_MS, type PendingPublication, type Publication, type PublisherLease } from './publication.ts';

type PublicationRow = NullableColumns<Omit<PendingPublication, 'isWanted'>> & { readonly isWanted: number };

/** An environment that was deleted and created again is a new one, which has not been published. */
const IS_WANTED = `CASE WHEN wanted = 1 AND EXISTS (SELECT 1 FROM environments
    WHERE environments.id = publications.environment_id AND environments.deleted_at IS NULL
      AND environments.created_at = publications.environment_created_at) THEN 1 ELSE 0 END`;

/** All publications, by path; those that are to be removed first. */
export async function readPublications(db: Queryable): Promise<readonly PendingPublication[]> {
  const rows = await db.query<PublicationRow>(
    `SELECT environment_id AS "environmentId", path, created_at AS "createdAt", revision,
        published_at AS "publishedAt", ${IS_WANTED} AS "isWanted" FROM publications ORDER BY "isWanted", path`,
  );
  return rows.map(({ isWanted, ...row }) => ({
    ...withoutNulls<Publication>(row),
    isWanted: isWanted === 1,
  }));
}

/** Publishes an environment from now on; one that is published stays as it is. */
export async function insertPublication(tx: Tx, environment: Environment, path: string): Promise<void> {
  const { id, projectId, name, createdAt } = environment;
  const inserted = await tx.query(
    `INSERT INTO publications (environment_id, environment_created_at, path, wanted, created_at)
      VALUES ($1, $2, $3, 1, $4) ON CONFLICT (environment_id) DO UPDATE
        SET wanted = 1, environment_created_at = $2, path = $3, created_at = $4, revision = NULL, published_at = NULL
        WHERE publications.wanted = 0 OR publications.environment_created_at <> $2
      RETURNING environment_id`,
    [id, createdAt, path, tx.now()],
  );
  if (inserted.length === 0) return;

  const after = JSON.stringify({ path });
  tx.journal.audit({ action: 'environment.published', projectId, environmentId: id, target: name, after });
}

/** Marks an environment as withdrawn, if it was published: the publisher removes its files. */
export async function storeWithdrawal(tx: Tx, environment: Environment): Promise<void> {
  const { id, projectId, name } = environment;
  const withdrawn = await tx.query<{ path: string }>(
    'UPDATE publications SET wanted = 0 WHERE environment_id = $1 AND wanted = 1 RETURNING path',
    [id],
  );
  for (const { path } of withdrawn) {
    const before = JSON.stringify({ path });
    tx.journal.audit({ action: 'environment.withdrawn', projectId, environmentId: id, target: name, before });
  }
}

/** Notes the revision that is in the storage now. */
export async function settlePublication(
  tx: UnloggedTx,
  { environmentId, revision }: Required<Pick<Publication, 'environmentId' | 'revision'>>,
): Promise<void> {
  await tx.query('UPDATE publications SET revision = $2, published_at = $3 WHERE environment_id = $1', [
    environmentId,
    revision,
    tx.now(),
  ]);
}

/** Forgets a publication whose files have been removed, unless it has been asked for again. */
export async function removePublication(tx: UnloggedTx, environmentId: string): Promise<void> {
  await tx.query(`DELETE FROM publications WHERE environment_id = $1 AND ${IS_WANTED} = 0`, [environmentId]);
}

/** Takes or renews the lease of the one node that publishes; returns whether this node has it. */
export async function takePublisherLease(tx: UnloggedTx, { node, now }: PublisherLease): Promise<boolean> {
  // A lease that is farther ahead than a right clock could set it is over.
  const taken = await tx.query(
    `UPDATE publisher SET leased_by = $1, leased_until = $2
      WHERE leased_by = $1 OR leased_until IS NULL OR leased_until <= $3 OR leased_until > $4 RETURNING id`,
    [node, now + LEASE_MS, now, now + LEASE_MS + CLOCK_TOLERANCE_MS],
  );
  return taken.length > 0;
}

/** Gives up the lease, so that another node need not wait for its end. */
export async function releasePublisherLease(tx: UnloggedTx, node: string): Promise<void> {
  await tx.query('UPDATE publisher SET leased_by = NULL, leased_until = NULL WHERE leased_by = $1', [node]);
}
