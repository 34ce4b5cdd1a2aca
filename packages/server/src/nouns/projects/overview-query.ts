import { CLOCK_TOLERANCE_MS } from '../../domain/clock.ts';
import { PRESENCE_MS } from '../../domain/delivery.ts';
import type { Project } from '../../domain/project.ts';
import type { Queryable } from '../../storage/database.ts';
import { NOT_ABOUT_PEOPLE } from '../../storage/places.ts';
import { type NullableColumns, placeholders, withoutNulls } from '../../storage/rows.ts';

/** What a project has, and what goes on in it. */
export interface ProjectFigures {
  /** Those in use. */
  readonly flags: number;
  readonly environments: number;
  /** Open streams on all nodes. */
  readonly streams: number;
  readonly runningPlans: number;
  /** Proposals that wait for people, emergencies to acknowledge included. */
  readonly waitingProposals: number;
  /** Webhooks whose last attempt failed, or that the server disabled. */
  readonly failingWebhooks: number;
}

/** The newest entry of a project in the audit log, as far as it says what was done. */
export interface LastChange {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  /** The name, if the environment still exists. */
  readonly environment?: string;
  readonly before?: string;
  readonly after?: string;
  /** Entries of the same action in the same row of the log, at most {@link MOST_ALIKE}. */
  readonly alike: number;
}

/** More entries than this are not counted: an import changes thousands of flags at once. */
export const MOST_ALIKE = 100;

/** The figures of each of these projects, by id: one statement, which reads the entries of indexes of these projects only. */
export async function readFigures(
  db: Queryable,
  projects: readonly Project[],
  now: number,
): Promise<ReadonlyMap<string, ProjectFigures>> {
  if (projects.length === 0) return new Map();
  const rows = await db.query<ProjectFigures & { readonly id: string }>(
    `SELECT id,
        (SELECT count(*) FROM flags WHERE project_id = projects.id AND archived_at IS NULL) AS flags,
        (SELECT count(*) FROM environments WHERE project_id = projects.id AND deleted_at IS NULL) AS environments,
        (SELECT CAST(COALESCE(sum(streams), 0) AS BIGINT) FROM stream_presence JOIN environments ON environments.id = environment_id
          WHERE project_id = projects.id AND seen_at >= $1 AND seen_at <= $2) AS streams,
        (SELECT count(*) FROM rollout_plans WHERE project_id = projects.id AND status = 'running') AS "runningPlans",
        (SELECT count(*) FROM proposals WHERE project_id = projects.id AND settled_at IS NULL) AS "waitingProposals",
        (SELECT count(*) FROM webhooks WHERE project_id = projects.id
          AND (status = 'disabled' OR (status = 'active' AND failures > 0))) AS "failingWebhooks"
      FROM projects WHERE id IN (${placeholders(projects.length, 2)})`,
    [now - PRESENCE_MS, now + CLOCK_TOLERANCE_MS, ...projects.map(({ id }) => id)],
  );

  return new Map(rows.map(({ id, ...figures }) => [id, figures]));
}

/** SQL for a column of the newest entry of the project of the row, or of one of those, if a change had several. */
const newest = (column: 'seq' | 'position') => `(SELECT newest.${column} FROM audit_log AS newest
  WHERE newest.project_id = projects.id AND ${NOT_ABOUT_PEOPLE} ORDER BY newest.seq DESC LIMIT 1)`;

/** The newest entry of each of these projects, by id, without those about people and their credentials: one statement. */
export async function readLastChanges(
  db: Queryable,
  projects: readonly Project[],
): Promise<ReadonlyMap<string, LastChange>> {
  if (projects.length === 0) return new Map();
  const rows = await db.query<NullableColumns<LastChange> & { readonly projectId: string }>(
    `SELECT projects.id AS "projectId", last.seq, last.at, last.actor, last.action, last.target, last.before, last.after,
        environments.name AS environment,
        (SELECT count(*) FROM (SELECT 1 FROM audit_log AS other
          WHERE other.seq = last.seq AND other.action = last.action LIMIT ${MOST_ALIKE}) AS few) AS alike
      FROM projects
      JOIN audit_log AS last ON last.seq = ${newest('seq')} AND last.position = ${newest('position')}
      LEFT JOIN environments ON environments.id = last.environment_id AND environments.deleted_at IS NULL
      WHERE projects.id IN (${placeholders(projects.length)})`,
    projects.map(({ id }) => id),
  );

  return new Map(rows.map(({ projectId, ...row }) => [projectId, withoutNulls<LastChange>(row)]));
}
