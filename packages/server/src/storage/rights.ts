import { ROLES, type Role } from '@halyard/protocol';
import type { ProjectRole, Rights } from '../domain/rights.ts';
import type { Parameter, Queryable } from './database.ts';
import { chunks, type NullableColumns, placeholders, withoutNulls } from './rows.ts';

/** The columns of {@link RightsRow}. */
export const RIGHTS_COLUMNS =
  'role, can_change_protected AS "canChangeProtected", project_roles AS "projectRoles"';

/** The stored rights as one text, to see whether they are still the same. */
export const RIGHTS_TEXT = `role || '/' || can_change_protected || '/' || COALESCE(project_roles, '')`;

/**
 * As {@link RIGHTS_TEXT} for an access token: with the rights of its owner, who limits what it may do. In a statement about
 * `access_tokens` alone, where other columns have other names.
 */
export const TOKEN_RIGHTS_TEXT = `${RIGHTS_TEXT} || ' ' || COALESCE(
    (SELECT ${RIGHTS_TEXT} FROM operators WHERE operators.id = access_tokens.owner), '')`;

/** The columns of {@link rightsValues} are in these tables. */
const TABLES = ['operators', 'invitations', 'access_tokens'] as const;

/** Most ids in one statement. */
const IDS_PER_STATEMENT = 500;

/** A record with rights as its row has it: the engines have no booleans in common, and roles in projects are JSON. */
export type RightsRow<T extends Rights> = NullableColumns<Omit<T, 'canChangeProtected' | 'projects'>> & {
  readonly canChangeProtected: number;
  readonly projectRoles: string | null;
};

/** The role in a project, as the JSON column has it. */
interface StoredRole {
  readonly id: string;
  readonly role: Role;
  readonly protected: boolean;
}

/** The records of rows. A role in a project that no longer exists is left out. */
export async function withRights<T extends Rights>(
  queryable: Queryable,
  rows: readonly RightsRow<T>[],
): Promise<T[]> {
  const stored = rows.map(({ projectRoles }) => parseRoles(projectRoles));
  const names = await projectNames(queryable, new Set(stored.flat().map(({ id }) => id)));
  return rows.map((row, index) => {
    const { canChangeProtected, projectRoles: _, ...others } = row;
    const projects = (stored[index] ?? []).flatMap((each) => namedRole(each, names));
    const record = {
      ...withoutNulls<object>(others),
      canChangeProtected: canChangeProtected !== 0,
      ...(projects.length === 0
        ? {}
        : { projects: projects.sort((a, b) => (a.project < b.project ? -1 : 1)) }),
    };
    // `T`: this reverses `RightsRow`, which changed the absent members, the boolean and the list.
    return record as unknown as T;
  });
}

/** The values of `role`, `can_change_protected` and `project_roles`. */
export function rightsValues({ role, canChangeProtected, projects = [] }: Rights): readonly Parameter[] {
  const roles = projects.map(
    (each): StoredRole => ({ id: each.projectId, role: each.role, protected: each.canChangeProtected }),
  );
  return [role, canChangeProtected ? 1 : 0, rolesText(roles)];
}

/** Rights as the audit log keeps them. */
export function rightsText({ role, canChangeProtected, projects }: Rights) {
  const named = projects?.map((each) => ({
    project: each.project,
    role: each.role,
    canChangeProtected: each.canChangeProtected,
  }));
  return { role, canChangeProtected, projects: named };
}

/** Removes the roles in a deleted project. The caller has locked people. */
export async function removeProjectRoles(sql: Queryable, projectId: string): Promise<void> {
  for (const table of TABLES) {
    const rows = await sql.query<{ id: string; roles: string | null }>(
      `SELECT id, project_roles AS roles FROM ${table} WHERE project_roles IS NOT NULL`,
    );
    for (const { id, roles } of rows) {
      const known = parseRoles(roles);
      const left = known.filter((each) => each.id !== projectId);
      if (left.length === known.length) continue;
      await sql.query(`UPDATE ${table} SET project_roles = $2 WHERE id = $1`, [id, rolesText(left)]);
    }
  }
}

function rolesText(roles: readonly StoredRole[]): string | null {
  return roles.length === 0 ? null : JSON.stringify(roles);
}

/** The stored roles; damaged ones are left out. */
function parseRoles(text: string | null): readonly StoredRole[] {
  if (text === null) return [];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isStoredRole) : [];
  } catch {
    // Not JSON: damaged.
    return [];
  }
}

function isStoredRole(item: unknown): item is StoredRole {
  if (typeof item !== 'object' || item === null) return false;
  const { id, role, protected: isProtected } = item as Readonly<Record<string, unknown>>;
  return typeof id === 'string' && ROLES.some((each) => each === role) && typeof isProtected === 'boolean';
}

async function projectNames(
  queryable: Queryable,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const some of chunks(ids, IDS_PER_STATEMENT)) {
    const rows = await queryable.query<{ id: string; name: string }>(
      `SELECT id, name FROM projects WHERE id IN (${placeholders(some.length)})`,
      some,
    );
    for (const { id, name } of rows) names.set(id, name);
  }
  return names;
}

function namedRole({ id, role, protected: isProtected }: StoredRole, names: ReadonlyMap<string, string>) {
  const project = names.get(id);
  const named: ProjectRole[] =
    project === undefined ? [] : [{ projectId: id, project, role, canChangeProtected: isProtected }];
  return named;
}
