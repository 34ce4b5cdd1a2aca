import type { Fields } from './fields.ts';
import { namesIn, option, toggle, type ValuesOf } from './options.ts';

/**
 * `--role`, `--project`, `--protected` and `--no-protected`, which name the rights of an operator or access token.
 * `byDefault` describes what holds without them.
 */
export function rightsOptions(
  roles: readonly string[],
  byDefault: Readonly<Record<'role' | 'protected', string>>,
) {
  return {
    role: option('<role>', `Role (${byDefault.role})`, { choices: roles }),
    project: option('<projects>', 'Only in these projects, separated by commas (default all projects)'),
    protected: toggle(`Allow changes in protected environments (${byDefault.protected})`, {
      no: 'Deny changes in protected environments',
    }),
  };
}

/** The rights that a command line names; the role is only given in `project`, if that is there. */
export type NamedRights = ValuesOf<ReturnType<typeof rightsOptions>>;

/** The members of a request body for something new. */
export function rightsBody({ role, project, protected: canChangeProtected }: NamedRights): object {
  // JSON.stringify leaves out what is undefined.
  if (project === undefined) return { role, canChangeProtected };
  return {
    role: 'none',
    projects: namesIn(project).map((name) => ({ project: name, role, canChangeProtected })),
  };
}

/** Rights in a table: `editor`, `editor + protected`, `shop: admin`. Administrators can always change protected environments. */
export function describeRights(item: Fields): string {
  // Servers older than roles have administrator tokens only, and older ones have no roles in projects.
  const role = item.optionalText('role') ?? 'admin';
  const projects = item.any('projects') === undefined ? [] : item.list('projects');
  const roles = [
    ...(role === 'none' && projects.length > 0 ? [] : [describeRole(role, item)]),
    ...projects.map((each) => `${each.text('project')}: ${describeRole(each.text('role'), each)}`),
  ];
  const only = item.optionalText('only');
  return `${roles.join(', ')}${only === undefined ? '' : `, only ${only}`}`;
}

function describeRole(role: string, item: Fields): string {
  return role === 'editor' && item.any('canChangeProtected') === true ? 'editor + protected' : role;
}
