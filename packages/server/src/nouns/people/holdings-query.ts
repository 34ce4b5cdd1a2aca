import type { Queryable } from '../../storage/database.ts';
import { IS_SELDOM } from '../../storage/places.ts';
import { placeholders } from '../../storage/rows.ts';

/** Most keys and flags that are read. */
const MOST = 500;

/** A project key that a person created. */
export interface HeldKey {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly lastFour: string;
  /** The actor who created it, as in the audit log, and where its entry is there. */
  readonly by: string;
  readonly seq: number;
}

/** A flag with a person as its owner. */
export interface OwnedFlag {
  readonly project: string;
  readonly key: string;
}

/** The project keys that these actors created and that still work, as far as the audit log reaches back; the newest ones. */
export function readKeysBy(
  db: Queryable,
  names: readonly string[],
  now: number,
): Promise<readonly HeldKey[]> {
  const by = placeholders(names.length, 2);
  return db.query<HeldKey>(
    `SELECT project_keys.id, projects.name AS project, project_keys.name, last_four AS "lastFour",
        actor AS "by", seq
      FROM audit_log JOIN project_keys ON project_keys.id = target JOIN projects ON projects.id = project_keys.project_id
      WHERE action = 'key.created' AND ${IS_SELDOM} AND actor IN (${by}) AND revoked_at IS NULL
        AND (project_keys.expires_at IS NULL OR project_keys.expires_at > $1)
      ORDER BY audit_log.seq DESC, target LIMIT $2`,
    [now, MOST, ...names],
  );
}

/** The flags in use that name one of these texts as their owner, in any case of the letters A to Z. */
export function readFlagsOf(db: Queryable, owners: readonly string[]): Promise<readonly OwnedFlag[]> {
  const lower = owners.map((owner) => owner.toLowerCase());
  return db.query<OwnedFlag>(
    `SELECT projects.name AS project, key FROM flags JOIN projects ON projects.id = project_id
      WHERE archived_at IS NULL AND lower(owner) IN (${placeholders(lower.length, 1)})
      ORDER BY projects.name, key LIMIT $1`,
    [MOST, ...lower],
  );
}

/** The names of projects and environments, by id. */
export async function readPlaceNames(db: Queryable): Promise<ReadonlyMap<string, string>> {
  const projects = await db.query<{ id: string; name: string }>('SELECT id, name FROM projects');
  const environments = await db.query<{ id: string; name: string }>('SELECT id, name FROM environments');
  return new Map([...projects, ...environments].map(({ id, name }) => [id, name]));
}
