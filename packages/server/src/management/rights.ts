import type { TokenLimit } from '@halyard/protocol';
import type { Actor } from '../domain/audit.ts';
import { projectNotFound, ServiceError } from '../domain/errors.ts';
import type { Permissions, Rights } from '../domain/rights.ts';

/** The levels of a caller, lowest first. `states`: may set flag states and no more. */
const LEVELS = ['none', 'viewer', 'states', 'editor', 'admin'] as const;

/** A level that can be required. */
export type Level = Exclude<(typeof LEVELS)[number], 'none'>;

/** The highest level of a token with a limit. */
const LEVEL_OF_LIMIT: Readonly<Record<TokenLimit, Level>> = {
  plan: 'viewer',
  states: 'states',
  audit: 'viewer',
};

/** What a token with a limit does, in words. */
const TASKS: Readonly<Record<TokenLimit, string>> = {
  plan: 'reads and plans imports',
  states: 'reads and sets flag states',
  audit: 'reads the audit log',
};

/**
 * Where a caller must have the role of an operation. `project`: in the project that the path names. `visible`: in any project,
 * and the operation itself returns and changes only what the caller may see and change. `server`: for all
 * projects. `self`: nowhere, because it is about the caller alone.
 */
export type Scope = 'project' | 'visible' | 'server' | 'self';

/** The declared right of an operation. */
export interface Requirement {
  readonly level: Level;
  readonly scope: Scope;
  /** The name of the project in the path. */
  readonly project?: string | undefined;
  /** Whether the operation reads a body. Default false. */
  readonly takesBody?: boolean;
  /** Whether the operation reads the audit log. Default false. */
  readonly readsAudit?: boolean;
}

/** A project, by its id or its name. The two must not be mixed up: the name of a project may be the id of another. */
export type ProjectRef = { readonly id: string } | { readonly name: string };

/** The rights among the members of a record. */
export function rightsOf({ role, canChangeProtected, projects }: Rights): Rights {
  return { role, canChangeProtected, ...(projects && { projects }) };
}

/** What two holders may both do. */
export function commonRights(a: Rights, b: Rights): Rights {
  const everywhere = lowerRole(a, b);
  const named = new Map([...(a.projects ?? []), ...(b.projects ?? [])].map((each) => [each.projectId, each]));
  const projects = [...named.values()].flatMap(({ projectId, project }) => {
    const [inA, inB] = [a, b].map((rights) => highestRole(rolesIn(rights, { id: projectId })));
    const { role, canChangeProtected } = lowerRole(inA ?? a, inB ?? b);
    // What the role for all projects gives anyway is left out.
    const isMore =
      rankOf(role) > rankOf(everywhere.role) || canChangeProtected !== everywhere.canChangeProtected;
    return role === 'none' || !isMore ? [] : [{ projectId, project, role, canChangeProtected }];
  });
  return { ...everywhere, ...(projects.length === 0 ? {} : { projects }) };
}

function lowerRole(a: SomeRole, b: SomeRole): SomeRole {
  const { role } = rankOf(a.role) <= rankOf(b.role) ? a : b;
  const mayBoth = [a, b].every((each) => each.role === 'admin' || each.canChangeProtected);
  return { role, canChangeProtected: rankOf(role) >= rankOf('editor') && mayBoth };
}

function highestRole(roles: readonly SomeRole[]): SomeRole {
  const role = roles
    .map((each) => each.role)
    .reduce((high, each) => (rankOf(each) > rankOf(high) ? each : high));
  const canChangeProtected = roles.some(
    (each) => each.role === 'admin' || (each.role === 'editor' && each.canChangeProtected),
  );
  return { role, canChangeProtected };
}

/**
 * Decides whether an actor may call an operation: the only place that does. Returns the actor, bound to the project whose role
 * counted, if it was one. `project_not_found` in a project where the actor has no role, as if it did not exist; otherwise
 * `forbidden`.
 */
export function authorize(actor: Actor, requirement: Requirement): Actor {
  const { level, scope, project, takesBody = false, readsAudit = false } = requirement;
  const { permissions } = actor;
  if (scope === 'self') return actor;

  // Before anything is looked up: to such a token no other operation says what there is. (Spec: S24.8)
  if (permissions.only === 'audit' && !readsAudit) throw beyondTask('audit');
  if (scope !== 'visible') {
    requireRole(actor, level, scope === 'project' ? { name: project ?? '' } : undefined);
    if (hasLevel(permissions, level)) return actor;
    const role = permissions.projects?.find((each) => each.project === project);
    return role === undefined ? actor : { ...actor, projectId: role.projectId };
  }
  const anywhere = [permissions, ...(permissions.projects ?? [])];
  // A caller without a role gets an empty list, and no body is read for one.
  if ((level !== 'viewer' || takesBody) && !reaches(permissions, level, anywhere))
    throw forbidden(permissions, level, anywhere);
  return actor;
}

/** Refuses an actor below a level in a project; without a project, for all projects. Otherwise as {@link authorize}. */
export function requireRole({ permissions }: Actor, level: Level, project?: ProjectRef): void {
  const roles = rolesIn(permissions, project);
  if (reaches(permissions, level, roles)) return;
  if (project !== undefined && 'name' in project && !reaches(permissions, 'viewer', roles))
    throw projectNotFound(project.name);
  throw forbidden(permissions, level, roles);
}

/** Whether the actor may see the project of that id. */
export function sees({ permissions }: Actor, projectId: string): boolean {
  return hasLevel(permissions, 'viewer', { id: projectId });
}

/** The ids of the projects that the actor may see; `undefined`: all, future ones included. */
export function visibleProjects({ permissions }: Actor): readonly string[] | undefined {
  if (hasLevel(permissions, 'viewer')) return undefined;
  return (permissions.projects ?? []).map(({ projectId }) => projectId);
}

/** Whether the actor is an administrator of all these projects, by id; `undefined`: of every project. */
export function administers({ permissions }: Actor, projectIds?: readonly string[]): boolean {
  if (hasLevel(permissions, 'admin')) return true;
  return projectIds?.every((id) => hasLevel(permissions, 'admin', { id })) ?? false;
}

/** Whether the actor has the role of an administrator in any project, also as a token that is limited to a task. */
export function isAdministrator({ permissions: { role, projects = [] } }: Actor): boolean {
  return role === 'admin' || projects.some((each) => each.role === 'admin');
}

/** Whether the actor is an administrator of everything that these rights reach, and so may see and end them. */
export function administersAll(actor: Actor, { role, projects = [] }: Rights): boolean {
  if (role !== 'none' || projects.length === 0) return administers(actor);
  return administers(
    actor,
    projects.map(({ projectId }) => projectId),
  );
}

/**
 * Whether the actor may read about credentials and addresses of others: administrators of all projects may, also with a token that
 * only reads the audit log.
 */
export function seesPeople(actor: Actor): boolean {
  const { role, only } = actor.permissions;
  return administers(actor) || (only === 'audit' && role === 'admin');
}

/** Whether the states of protected environments of this project may be changed. */
export function mayChangeProtected(permissions: Permissions, projectId: string): boolean {
  return rolesIn(permissions, { id: projectId }).some(
    ({ role, canChangeProtected }) => role === 'admin' || (role === 'editor' && canChangeProtected),
  );
}

function hasLevel(permissions: Permissions, level: Level, project?: ProjectRef): boolean {
  return reaches(permissions, level, rolesIn(permissions, project));
}

type SomeRole = Pick<Rights, 'role' | 'canChangeProtected'>;

/** The roles that count in a project; without one, the role for all projects. */
function rolesIn(permissions: Rights, project: ProjectRef | undefined): readonly SomeRole[] {
  const { projects } = permissions;
  if (project === undefined || projects === undefined) return [permissions];
  const own = projects.filter((each) =>
    'id' in project ? each.projectId === project.id : each.project === project.name,
  );
  return [permissions, ...own];
}

/** Whether the highest of these roles reaches a level, within the limit of the token. */
function reaches({ only }: Permissions, level: Level, roles: readonly SomeRole[]): boolean {
  if (only !== undefined && rankOf(LEVEL_OF_LIMIT[only]) < rankOf(level)) return false;
  return roles.some(({ role }) => rankOf(role) >= rankOf(level));
}

/** A role that this program does not know ranks below all. */
function rankOf(level: (typeof LEVELS)[number]): number {
  return LEVELS.indexOf(level);
}

function beyondTask(only: TokenLimit): ServiceError {
  return new ServiceError('forbidden', `This access token only ${TASKS[only]}: use one without that limit.`);
}

function forbidden(
  { only, ...unlimited }: Permissions,
  level: Level,
  roles: readonly SomeRole[],
): ServiceError {
  if (only !== undefined && reaches(unlimited, level, roles)) {
    return beyondTask(only);
  }
  const needed = level === 'states' ? 'editor' : level;
  const mine = LEVELS.findLast((each) => roles.some(({ role }) => role === each)) ?? 'none';
  return new ServiceError(
    'forbidden',
    mine === 'none'
      ? `This requires the role "${needed}" for all projects, and you have none: ask an administrator.`
      : `This requires the role "${needed}", and yours is "${mine}": ask an administrator.`,
  );
}
