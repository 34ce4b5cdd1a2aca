import type { AuditEntry } from '../domain/audit.ts';
import type { StoreReader } from '../domain/store.ts';
import { invalid } from '../domain/strict-members.ts';
import type { ManagementContext } from './context.ts';
import { findEnvironment, findProject } from './lookup.ts';

/** Which audit entries to list. */
export interface AuditQuery {
  /** Names; an environment needs its project. */
  readonly project?: string;
  readonly environment?: string;
  readonly target?: string;
  /** Only entries with a smaller `seq`. */
  readonly before?: number;
  readonly limit: number;
}

/** An entry with the names of its project and environment, where they still exist. */
export interface NamedAuditEntry extends AuditEntry {
  readonly project?: string;
  readonly environment?: string;
}

/** Entries of the audit log, newest first. `invalid_argument`, `project_not_found`, `environment_not_found`. */
export function listAudit(
  context: ManagementContext,
  query: AuditQuery,
): Promise<readonly NamedAuditEntry[]> {
  return context.store.read(async (reader) => {
    const entries = await reader.audit({
      ...(await idsOf(reader, query)),
      ...(query.target === undefined ? {} : { target: query.target }),
      ...(query.before === undefined ? {} : { beforeSeq: query.before }),
      limit: query.limit,
    });
    return withNames(reader, entries);
  });
}

async function idsOf(
  reader: StoreReader,
  { project, environment }: AuditQuery,
): Promise<{ projectId?: string; environmentId?: string }> {
  if (project === undefined) {
    if (environment === undefined) return {};
    throw invalid('"environment" needs "project" beside it: environments of two projects may share a name.');
  }
  if (environment === undefined) return { projectId: (await findProject(reader, project)).id };
  const found = await findEnvironment(reader, { project, environment });
  return { projectId: found.projectId, environmentId: found.id };
}

async function withNames(
  reader: StoreReader,
  entries: readonly AuditEntry[],
): Promise<readonly NamedAuditEntry[]> {
  const used = new Set(entries.map((entry) => entry.projectId));
  const projects = new Map((await reader.projects()).map(({ id, name }) => [id, name]));
  const environments = new Map<string, string>();
  for (const projectId of projects.keys()) {
    if (!used.has(projectId)) continue;
    for (const { id, name } of await reader.environments(projectId)) environments.set(id, name);
  }
  return entries.map((entry) => {
    const project = projects.get(entry.projectId ?? '');
    const environment = environments.get(entry.environmentId ?? '');
    return {
      ...entry,
      ...(project === undefined ? {} : { project }),
      ...(environment === undefined ? {} : { environment }),
    };
  });
}
