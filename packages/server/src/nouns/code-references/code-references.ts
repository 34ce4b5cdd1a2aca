import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote } from '../../domain/errors.ts';
import type { ManagementContext } from '../../management/context.ts';
import { checkFlagKey, hasControl } from '../../management/rules.ts';
import type { UnloggedTx } from '../../storage/tx.ts';
import { findFlag, findProject, recordNotFound } from '../lookup.ts';
import { lockProject } from '../projects/project-table.ts';
import {
  type CodeReport,
  type FlagInCode,
  type FoundCounts,
  type FoundFlag,
  readFound,
  readFoundFlag,
  readReports,
  removeReport,
  storeReport,
} from './code-reference-table.ts';

/** Limits of reports: what people read, and what one request carries. */
export const MAX_CODE = {
  repositories: 50,
  flags: 10_000,
  places: 20,
  repository: 100,
  path: 500,
  link: 500,
} as const;

/** The form of the name of a repository. */
export const REPOSITORY_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/;

/** The form of the name of a commit. */
export const COMMIT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The form of a link: nothing but its path and query depends on the place, so it always leads to one host. */
export const LINK_PATTERN = /^https?:\/\/[A-Za-z0-9.:[\]-]+\/\S*$/;

/** A report as it is sent. */
export interface SentReport extends Pick<CodeReport, 'repository' | 'commit'> {
  readonly link?: string | undefined;
  readonly flags: readonly FoundFlag[];
}

/** The newest report of a repository. `flags` has each flag that it looked for, and no other. */
export interface RepositoryReport extends CodeReport {
  readonly flags: ReadonlyMap<string, FoundCounts>;
}

/** What the repositories of a project have reported. `project_not_found`. */
export function listCodeReferences(
  context: ManagementContext,
  actor: Actor,
  project: string,
): Promise<readonly RepositoryReport[]> {
  return context.store.read(async (db) => {
    const { id } = await findProject(db, actor, project);
    const found = Map.groupBy(await readFound(db, id), ({ repository }) => repository);

    return (await readReports(db, id)).map((report) => {
      const own = found.get(report.repository) ?? [];
      return { ...report, flags: new Map(own.map(({ key, places, files }) => [key, { places, files }])) };
    });
  });
}

/** Where repositories have a flag, of those that have looked for it. `project_not_found`, `flag_not_found`. */
export function getCodeReferences(
  context: ManagementContext,
  actor: Actor,
  { project, key }: { readonly project: string; readonly key: string },
): Promise<readonly FlagInCode[]> {
  return context.store.read(async (db) => {
    const { id } = await findProject(db, actor, project);
    await findFlag(db, id, key);
    return await readFoundFlag(db, { projectId: id, key });
  });
}

/** Puts a report in the place of what its repository reported before. `project_not_found`. (Spec: S27.1, S27.2) */
export async function reportCodeReferences(
  context: ManagementContext,
  actor: Actor,
  { project, sent }: { readonly project: string; readonly sent: SentReport },
): Promise<void> {
  const { repository, commit, link, flags } = sent;
  checkReport(sent);

  await changeReports(context, actor, project, async (tx, projectId) => {
    const known = await readReports(tx, projectId);
    const isNew = !known.some((each) => each.repository === repository);
    if (isNew && known.length >= MAX_CODE.repositories)
      throw invalid(`${known.length} repositories have reported to this project: remove a report first.`);

    const report = {
      repository,
      commit,
      ...defined({ link }),
      reportedAt: tx.now(),
      reportedBy: actor.name,
    };
    await storeReport(tx, projectId, { report, flags });
  });
}

/** Removes what a repository reported. `project_not_found`, `not_found`. (Spec: S27.1) */
export async function deleteCodeReferences(
  context: ManagementContext,
  actor: Actor,
  { project, repository }: { readonly project: string; readonly repository: string },
): Promise<void> {
  await changeReports(context, actor, project, async (tx, projectId) => {
    if (await removeReport(tx, projectId, repository)) return;
    throw recordNotFound(`The repository ${quote(repository)} has no report here.`);
  });
}

/**
 * Changes reports, one at a time in a project that stays, with the rights of the moment. It leaves no row in the change log and
 * no audit entry: nothing that is served and no right depends on it, and pipelines report with every push.
 */
async function changeReports(
  context: ManagementContext,
  actor: Actor,
  project: string,
  work: (tx: UnloggedTx, projectId: string) => Promise<void>,
): Promise<void> {
  context.assertWritable();
  await context.store.unlogged(async (tx) => {
    const { id } = await findProject(tx, actor, project);
    await lockProject(tx, id);
    // It may have been deleted before the lock.
    await findProject(tx, actor, project);
    await work(tx, id);
  }, actor);
}

function checkReport({ repository, commit, link, flags }: SentReport): void {
  if (!REPOSITORY_PATTERN.test(repository))
    throw invalid(
      `"repository" must be 1 to ${MAX_CODE.repository} letters, digits, ".", "_", "/" and "-", such as "acme/shop".`,
    );
  if (!COMMIT_PATTERN.test(commit))
    throw invalid(
      '"commit" must be 1 to 64 letters, digits, ".", "_" and "-", such as the hash of a commit.',
    );
  if (link !== undefined && (link.length > MAX_CODE.link || !LINK_PATTERN.test(link)))
    throw invalid(
      `"link" must be an http or https address of at most ${MAX_CODE.link} characters, with {commit}, {path} and {line} ` +
        'behind the host: "https://github.com/acme/shop/blob/{commit}/{path}#L{line}".',
    );
  if (flags.length > MAX_CODE.flags)
    throw invalid(`"flags" has ${flags.length} entries: at most ${MAX_CODE.flags} are kept.`);

  const keys = new Set<string>();
  for (const flag of flags) {
    if (keys.has(flag.key)) throw invalid(`"flags" has ${quote(flag.key)} twice: list each once.`);
    keys.add(flag.key);
    checkFound(flag);
  }
}

function checkFound({ key, places, files, first }: FoundFlag): void {
  checkFlagKey(key);
  const isPossible = files <= places && (places === 0) === (files === 0) && first.length <= places;
  if (!isPossible)
    throw invalid(
      `The counts of ${quote(key)} contradict one another: "places" is the number of all places.`,
    );
  if (first.length > MAX_CODE.places)
    throw invalid(
      `"first" of ${quote(key)} has ${first.length} places: at most ${MAX_CODE.places} are kept.`,
    );
  for (const { path } of first) {
    if (path !== '' && path.length <= MAX_CODE.path && !hasControl(path)) continue;
    throw invalid(`A path of ${quote(key)} is not 1 to ${MAX_CODE.path} characters on one line.`);
  }
}
