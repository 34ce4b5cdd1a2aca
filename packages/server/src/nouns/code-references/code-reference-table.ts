import type { Queryable } from '../../storage/database.ts';
import { byText, insertRows, type NullableColumns, withoutNulls } from '../../storage/rows.ts';
import type { UnloggedTx } from '../../storage/tx.ts';

/** A place in a source tree. */
export type CodePlace = {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly line: number;
};

/** How often a flag's key was found. */
export type FoundCounts = {
  readonly places: number;
  readonly files: number;
};

/** What a search for one flag found: nothing, too, is a finding. */
export interface FoundFlag extends FoundCounts {
  readonly key: string;
  /** Some of the places. */
  readonly first: readonly CodePlace[];
}

/** The search of one repository at one commit. */
export interface CodeReport {
  readonly repository: string;
  readonly commit: string;
  /** Address of a place, with `{commit}`, `{path}` and `{line}` in it. */
  readonly link?: string;
  /** Epoch milliseconds. */
  readonly reportedAt: number;
  /** The name of the actor. */
  readonly reportedBy: string;
}

/** What one repository says about one flag. */
export interface FlagInCode extends CodeReport, FoundCounts {
  readonly first: readonly CodePlace[];
}

const REPORT = `code_reports.repository AS repository, commit_id AS "commit", link, reported_at AS "reportedAt",
  reported_by AS "reportedBy"`;

/** The newest report of each repository, by name. */
export async function readReports(db: Queryable, projectId: string): Promise<readonly CodeReport[]> {
  const rows = await db.query<NullableColumns<CodeReport>>(
    `SELECT ${REPORT} FROM code_reports WHERE project_id = $1`,
    [projectId],
  );
  return byText(rows.map(withoutNulls<CodeReport>), ({ repository }) => repository);
}

/** How often each repository has each flag that its report names, in no order. */
export function readFound(
  db: Queryable,
  projectId: string,
): Promise<readonly (FoundCounts & { readonly repository: string; readonly key: string })[]> {
  return db.query(
    `SELECT repository, flag_key AS "key", places, files FROM code_references WHERE project_id = $1`,
    [projectId],
  );
}

/** What each repository that has looked for a flag says about it, by the name of the repository. */
export async function readFoundFlag(
  db: Queryable,
  { projectId, key }: { readonly projectId: string; readonly key: string },
): Promise<readonly FlagInCode[]> {
  const rows = await db.query<NullableColumns<FlagInCode> & { readonly first: string }>(
    `SELECT ${REPORT}, places, files, first_places AS "first" FROM code_reports JOIN code_references
      ON code_references.project_id = code_reports.project_id AND code_references.repository = code_reports.repository
      WHERE code_reports.project_id = $1 AND flag_key = $2`,
    [projectId, key],
  );
  const found = rows.map((row) => ({ ...withoutNulls<FlagInCode>(row), first: placesIn(row.first) }));
  return byText(found, ({ repository }) => repository);
}

/** Puts a report in the place of the one that its repository sent before. The project is locked. */
export async function storeReport(
  tx: UnloggedTx,
  projectId: string,
  { report, flags }: { readonly report: CodeReport; readonly flags: readonly FoundFlag[] },
): Promise<void> {
  const { repository, commit, link, reportedAt, reportedBy } = report;
  await removeReport(tx, projectId, repository);
  await tx.query(
    `INSERT INTO code_reports (project_id, repository, commit_id, link, reported_at, reported_by)
      VALUES ($1, $2, $3, $4, $5, $6)`,
    [projectId, repository, commit, link ?? null, reportedAt, reportedBy],
  );
  await insertRows(tx, {
    table: 'code_references',
    columns: ['project_id', 'repository', 'flag_key', 'places', 'files', 'first_places'],
    rows: flags.map(({ key, places, files, first }) => [
      projectId,
      repository,
      key,
      places,
      files,
      JSON.stringify(first.map(({ path, line }) => [path, line])),
    ]),
  });
}

/** Removes what a repository reported; returns whether there was something. The schema removes its flags with it. */
export async function removeReport(tx: UnloggedTx, projectId: string, repository: string): Promise<boolean> {
  const removed = await tx.query(
    'DELETE FROM code_reports WHERE project_id = $1 AND repository = $2 RETURNING repository',
    [projectId, repository],
  );
  return removed.length > 0;
}

/** Places from their column. Of damaged text none are known; the counts stay. */
function placesIn(text: string): readonly CodePlace[] {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return [];
    return list.flatMap((each: unknown) => {
      const [path, line] = Array.isArray(each) ? each : [];
      return typeof path === 'string' && typeof line === 'number' ? [{ path, line }] : [];
    });
  } catch {
    // Not JSON: damaged.
    return [];
  }
}
