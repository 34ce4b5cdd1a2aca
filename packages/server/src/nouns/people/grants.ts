import { defined, type GlobalRole, type Role, type TokenLimit } from '@halyard/protocol';
import { type Actor, SYSTEM } from '../../domain/audit.ts';
import { invalid, quote } from '../../domain/errors.ts';
import { type Permissions, type ProjectRole, type Rights, UNLIMITED } from '../../domain/rights.ts';
import { administers, requireRole, rightsOf } from '../../management/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { isValid } from '../access-tokens/access-token.ts';
import { readAccessTokens } from '../access-tokens/access-token-table.ts';
import { tokenRights } from '../access-tokens/token-rights.ts';
import { findProject } from '../lookup.ts';
import { lockProject } from '../projects/project-table.ts';
import { isVouched } from './operator.ts';
import { readOperatorByEmail } from './operator-table.ts';

/** The name of the token from the settings. */
export const ADMIN_NAME = 'admin';

/** Whether the actor is the token from the settings; no other token can have its name. */
export function isSettingsToken({ name }: Pick<Actor, 'name'>): boolean {
  return name === `token:${ADMIN_NAME}`;
}

/** Most projects in which one person or token has a role. */
const MAX_PROJECTS = 100;

/** A role in a project, by name. */
export interface NamedRole {
  readonly project: string;
  readonly role: Role;
  /** Default false. */
  readonly canChangeProtected?: boolean | undefined;
}

/** Rights as a request names them; absent members stay unchanged. */
export interface RightsChange {
  readonly role?: GlobalRole;
  readonly canChangeProtected?: boolean;
  /** All roles in single projects that the actor administers; the others stay. */
  readonly projects?: readonly NamedRole[];
}

/** An actor, whose permissions stay the same until the commit, and the roles that it gives. */
export interface Grant {
  readonly actor: Actor;
  readonly named: readonly ProjectRole[] | undefined;
}

/**
 * Locks the named projects and then people, which checks the actor's permissions: a removal that came first has ended
 * the open links of the actor, and must not miss a new one. `invalid_argument`, `project_not_found`.
 */
export async function lockGrant(
  tx: Tx,
  actor: Actor,
  projects: readonly NamedRole[] | undefined,
): Promise<Grant> {
  const named = projects && (await lockProjects(tx, actor, projects));
  await tx.lockPeople();
  return { actor, named };
}

/**
 * The rights after a change. Only administrators of all projects change the role for all projects, and only those of a project
 * change roles in it, so that no one grants more than they have. `forbidden`.
 */
export function changeRights(
  { actor, named }: Grant,
  known: Rights,
  { role = known.role, canChangeProtected = known.canChangeProtected }: Omit<RightsChange, 'projects'>,
): Rights {
  if (role !== known.role || canChangeProtected !== known.canChangeProtected) requireRole(actor, 'admin');
  for (const { projectId } of named ?? []) requireRole(actor, 'admin', { id: projectId });

  const before = known.projects ?? [];
  const others = before.filter(({ projectId }) => !administers(actor, [projectId]));
  const projects = named === undefined ? before : [...others, ...named].sort(byProject);
  return { role, canChangeProtected, ...(projects.length === 0 ? {} : { projects }) };
}

/** The rights of a new person or token: at least one role. As {@link changeRights}, and `invalid_argument`. */
export function newRights(grant: Grant, change: Omit<RightsChange, 'projects'>): Rights {
  const rights = changeRights(grant, { role: 'none', canChangeProtected: false }, change);
  if (rights.role !== 'none' || rights.projects !== undefined) return rights;
  throw invalid('There is no role: give "role", or at least one role in "projects".');
}

async function lockProjects(
  tx: Tx,
  actor: Actor,
  roles: readonly NamedRole[],
): Promise<readonly ProjectRole[]> {
  if (roles.length > MAX_PROJECTS)
    throw invalid(`"projects" has ${roles.length} entries: at most ${MAX_PROJECTS} are kept.`);

  const names = new Set<string>();
  const found: ProjectRole[] = [];
  for (const { project: name, role, canChangeProtected = false } of roles) {
    if (names.has(name)) throw invalid(`"projects" names ${quote(name)} twice: give one role.`);
    names.add(name);
    const { id: projectId } = await findProject(tx, actor, name);
    found.push({ projectId, project: name, role, canChangeProtected });
  }

  for (const { projectId } of found.toSorted((a, b) => (a.projectId < b.projectId ? -1 : 1)))
    await lockProject(tx, projectId);
  // A project may have been deleted before it was locked.
  for (const { project } of found) await findProject(tx, actor, project);
  return found.sort(byProject);
}

function byProject(a: ProjectRole, b: ProjectRole): number {
  return a.project < b.project ? -1 : 1;
}

/**
 * The current permissions of an actor, by the name in the audit log; `undefined` once it was removed, revoked or expired.
 * An actor created after `since`, in epoch milliseconds, is a different one that has the same name.
 */
export async function currentPermissions(
  db: Queryable,
  actorName: string,
  { now, since = Number.POSITIVE_INFINITY }: { readonly now: number; readonly since?: number },
): Promise<Permissions | undefined> {
  const [, kind, name = ''] = /^(token|operator):(.*)$/s.exec(actorName) ?? [];
  if (actorName === SYSTEM.name || (kind === 'token' && name === ADMIN_NAME)) return UNLIMITED;

  if (kind === 'operator') {
    const person = await readOperatorByEmail(db, name);
    if (person === undefined || person.createdAt > since || !isVouched(person, now)) return undefined;
    return permissionsOf(person);
  }

  const token = (await readAccessTokens(db)).find((each) => each.name === name && isValid(each, now));
  if (token === undefined || token.createdAt > since) return undefined;
  const rights = await tokenRights(db, token, now);
  return rights && permissionsOf(rights);
}

/** Programs confirm nothing; for a person, the operation was confirmed before. */
export function permissionsOf(
  holder: Rights & { readonly only?: TokenLimit; readonly exempt?: true },
): Permissions {
  const { only, exempt } = holder;
  return { ...rightsOf(holder), ...defined({ only, exempt }), confirmed: 'all' };
}
