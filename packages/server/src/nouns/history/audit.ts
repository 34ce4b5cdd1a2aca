import { defined } from '@halyard/protocol';
import { type Actor, AUDIT_PAGE_SIZE, type AuditEntry, sizeOf } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import type { ManagementContext } from '../../management/context.ts';
import { seesPeople, visibleProjects } from '../../management/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { findEnvironment, findProject } from '../lookup.ts';
import { readProjects } from '../projects/project-table.ts';
import { type AuditedOperation, type AuditPage, readAuditPage } from './audit-query.ts';
import type { NamedAuditEntry } from './audit-schemas.ts';
import type { AuditFilter } from './audit-search-query.ts';
import { findVisible, unrevertible } from './revert.ts';

/** Which audit entries to list. Those that the reader may not see are left out. */
export interface AuditQuery
  extends Omit<AuditFilter, 'projectId' | 'projectIds' | 'environmentId' | 'beforeSeq' | 'withoutPeople'> {
  readonly reader: Actor;
  /** Names; an environment requires its project. */
  readonly project?: string;
  readonly environment?: string;
  /** Only entries with a smaller `seq`. */
  readonly before?: number;
}

/** Some entries of the audit log. */
type AuditList = AuditPage<NamedAuditEntry>;

/** How long one answer looks for entries, in milliseconds: others wait for their turn. */
const SEARCH_MS = 2000;

/**
 * Entries of the audit log, newest first. Stops before the end of the log when it has enough, or when the search takes
 * too long. `invalid_argument`, `project_not_found`, `environment_not_found`.
 */
export async function listAudit(context: ManagementContext, query: AuditQuery): Promise<AuditList> {
  const entries: NamedAuditEntry[] = [];
  let size = 0;
  const endsAt = performance.now() + SEARCH_MS;

  for (let { after } = query; ; ) {
    const limit = query.limit - entries.length;
    const { next, ...page } = await readPage(context, { ...query, limit, ...defined({ after }) });
    for (const entry of page.entries) {
      entries.push(entry);
      size += sizeOf(entry);
    }

    const isFull = entries.length >= query.limit || size > AUDIT_PAGE_SIZE;
    if (next === undefined || isFull || performance.now() > endsAt) return { entries, ...defined({ next }) };
    after = next;
  }
}

function readPage(context: ManagementContext, query: AuditQuery): Promise<AuditList> {
  return context.store.read(async (db) => {
    const { project: _project, environment: _environment, reader: actor, before, ...filter } = query;

    const { entries, next } = await readAuditPage(db, {
      ...(await idsOf(db, query)),
      ...filter,
      withoutPeople: !seesPeople(actor),
      ...defined({ beforeSeq: before, projectIds: visibleProjects(actor) }),
    });
    return { entries: await withNames(db, entries), ...defined({ next }) };
  });
}

/** Entries in one page of an export. */
const EXPORT_PAGE = 1000;

/**
 * All entries that match the query, newest first, in pages that are read on demand. Same errors as {@link listAudit}.
 */
export async function* exportAudit(
  context: ManagementContext,
  query: Omit<AuditQuery, 'limit'>,
): AsyncGenerator<readonly NamedAuditEntry[]> {
  for (let after = query.after; ; ) {
    const { entries, next } = await listAudit(context, {
      ...query,
      limit: EXPORT_PAGE,
      ...defined({ after }),
    });
    if (entries.length > 0) yield entries;
    if (next === undefined) return;
    after = next;
  }
}

async function idsOf(
  db: Queryable,
  { project, environment, reader: actor }: AuditQuery,
): Promise<{ projectId?: string; environmentId?: string }> {
  if (project === undefined) {
    if (environment === undefined) return {};
    throw invalid(
      '"environment" requires "project", because projects may have environments of the same name.',
    );
  }

  if (environment === undefined) return { projectId: (await findProject(db, actor, project)).id };
  const found = await findEnvironment(db, actor, { project, environment });
  return { projectId: found.projectId, environmentId: found.id };
}

/** Adds the names of projects and environments to entries, where they still exist. */
export async function withNames(
  db: Queryable,
  entries: readonly AuditEntry[],
): Promise<readonly NamedAuditEntry[]> {
  const used = new Set(entries.map((entry) => entry.projectId));
  const projects = new Map((await readProjects(db)).map(({ id, name }) => [id, name]));
  const environments = new Map<string, string>();
  for (const projectId of projects.keys()) {
    if (!used.has(projectId)) continue;
    for (const { id, name } of await readEnvironments(db, projectId)) environments.set(id, name);
  }

  return entries.map((entry) => ({
    ...entry,
    ...defined({
      project: projects.get(entry.projectId ?? ''),
      environment: environments.get(entry.environmentId ?? ''),
    }),
  }));
}

/** One change: everything that one operation did. */
export interface ChangeRecord {
  /** The number of its last change-log row. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly actor: string;
  readonly note?: string;
  /** Present when all entries are in one project, or in one environment. */
  readonly project?: string;
  readonly environment?: string;
  /** The revision of the environment that it made, while the change log still has it. */
  readonly revision?: number;
  /** Whether changes of this kind can be reverted. */
  readonly revertible: boolean;
  /** In the order of execution. */
  readonly entries: readonly NamedAuditEntry[];
}

/** The change that wrote row `seq` of the change log. `not_found`, also when the actor may see nothing of it. */
export function getChange(context: ManagementContext, actor: Actor, seq: number): Promise<ChangeRecord> {
  return context.store.read(async (db) => describe(db, await findVisible(db, actor, seq)));
}

async function describe(db: Queryable, operation: AuditedOperation): Promise<ChangeRecord> {
  const entries = await withNames(db, operation.entries);
  const [first] = entries;
  if (first === undefined) throw new Error('an operation without entries was read');

  const { at, actor, note } = first;
  const project = onlyOne(entries.map((entry) => entry.project));
  const environment = onlyOne(entries.map((entry) => entry.environment));
  const [revision] = operation.revisions.values();
  const place = { note, project, environment, revision: environment === undefined ? undefined : revision };
  const revertible = (await unrevertible(db, operation)) === undefined;
  return { seq: operation.seq, at, actor, ...defined(place), revertible, entries };
}

/** The name that all entries with a name share; `undefined` when there are two. */
function onlyOne(names: readonly (string | undefined)[]): string | undefined {
  const different = new Set(names.filter((name) => name !== undefined));
  return different.size === 1 ? [...different][0] : undefined;
}
