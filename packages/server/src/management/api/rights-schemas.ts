import { GLOBAL_ROLES, ROLES, TOKEN_LIMITS } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import type { Rights } from '../../domain/rights.ts';
import { sees } from '../rights.ts';
import { NameSchema } from './schemas.ts';
import { z } from './zod.ts';

const RoleSchema = z.enum(GLOBAL_ROLES).openapi('Role', {
  description: 'The role for all projects, future ones included; `none`: only the roles in `projects` count.',
});

const ProtectedSchema = z.boolean().openapi({
  description: 'Whether the states of protected environments may be changed; administrators always may.',
});

const projectRoleMembers = { project: NameSchema, role: z.enum(ROLES) } as const;

const ProjectRoleSchema = z
  .strictObject({ ...projectRoleMembers, canChangeProtected: ProtectedSchema })
  .openapi('ProjectRole');

const ProjectRoleRequestSchema = z
  .strictObject({ ...projectRoleMembers, canChangeProtected: ProtectedSchema.default(false) })
  .openapi('ProjectRoleRequest');

/** The members that hold rights, in records. */
export const permissionMembers = {
  role: RoleSchema,
  canChangeProtected: ProtectedSchema,
  projects: z.array(ProjectRoleSchema).optional().openapi({
    description: 'The roles in single projects. In each, the higher of this role and `role` counts.',
  }),
} as const;

/** The members that hold rights, in requests. */
export const rightsMembers = {
  role: RoleSchema.optional(),
  canChangeProtected: ProtectedSchema.optional(),
  projects: z.array(ProjectRoleRequestSchema).optional().openapi({
    description:
      'The roles in single projects, instead of the present ones. Administrators of single projects replace the roles in those.',
  }),
} as const;

/** The task that a token is limited to. */
export const LimitSchema = z.enum(TOKEN_LIMITS).openapi({
  description:
    'The only task of the token, whatever its roles: `plan` reads and previews imports, `states` reads and sets flag states, `audit` reads the audit log.',
});

/** Rights as the API returns them; to `reader`, if it is given, only roles in projects that it may see. */
export function rightsRecord({ role, canChangeProtected, projects }: Rights, reader?: Actor) {
  const shown = projects?.filter(({ projectId }) => reader === undefined || sees(reader, projectId));
  return {
    role,
    canChangeProtected,
    projects: shown?.map((each) => ({
      project: each.project,
      role: each.role,
      canChangeProtected: each.canChangeProtected,
    })),
  };
}
