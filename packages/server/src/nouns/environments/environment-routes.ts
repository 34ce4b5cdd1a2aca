import { defined, ENVIRONMENT_COLORS } from '@halyard/protocol';
import type { Environment } from '../../domain/project.ts';
import { created, done, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../../management/api/pages.ts';
import { DoneSchema, EnvironmentRecordSchema, NameSchema, seqMember } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { environmentRecord } from './environment-schemas.ts';
import { createEnvironment, deleteEnvironment, listEnvironments, updateEnvironment } from './environments.ts';

/** The appearance of an environment, in bodies. */
const appearanceMembers = {
  protected: z.boolean().optional(),
  color: z.enum(ENVIRONMENT_COLORS).optional(),
};

/** Most approvals that an environment requires: with more, people wait for each other. */
const MAX_APPROVALS = 2;

const path = '/api/projects/{project}/environments';

/** Mounts the routes of environments. */
export function mountEnvironments(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Environments');
  mount({
    method: 'get',
    path,
    id: 'listEnvironments',
    isHeavy: true,
    role: 'viewer',
    summary: 'List the environments of a project',
    query: z.strictObject(pageQuery),
    answer: {
      description: 'The environments, by position and then by name.',
      schema: z.object({ environments: z.array(EnvironmentRecordSchema), ...nextMember }),
    },
    handle: async ({ params, query, actor }) => {
      const page = pageOf(query, [0, 'name'] as const);
      const place = ({ position, name }: Environment) => [position, name] as const;
      const environments = pageIn(await listEnvironments(context, actor, params.project), page, place);
      return ok(listAnswer('environments', environments, { page, record: environmentRecord, place }));
    },
  });

  mount({
    method: 'post',
    path,
    id: 'createEnvironment',
    role: 'admin',
    summary: 'Create an empty environment',
    body: { schema: z.strictObject({ name: NameSchema, ...appearanceMembers }) },
    answer: {
      status: 201,
      description: 'The environment.',
      schema: EnvironmentRecordSchema.extend(seqMember),
    },
    errors: ['already_exists'],
    handle: async ({ params, body: { name, ...appearance }, actor }) => {
      const place = { project: params.project, environment: name, appearance: defined(appearance) };
      return created(environmentRecord(await createEnvironment(context, actor, place)));
    },
  });

  mount({
    method: 'patch',
    path: `${path}/{environment}`,
    id: 'updateEnvironment',
    needsApproval: true,
    role: 'admin',
    summary: 'Change the protection, the approvals, the color or the position of an environment',
    body: {
      schema: z.strictObject({
        ...appearanceMembers,
        approvals: z.number().int().min(0).max(MAX_APPROVALS).optional(),
        emergencyOff: z.boolean().optional(),
        reasonRequired: z.boolean().optional(),
        position: z.number().int().min(0).max(1000).optional(),
      }),
    },
    answer: { description: 'The environment.', schema: EnvironmentRecordSchema.extend(seqMember) },
    handle: async ({ params, body, actor }) => {
      const place = { ...params, appearance: defined(body) };
      return ok(environmentRecord(await updateEnvironment(context, actor, place)));
    },
  });

  mount({
    method: 'delete',
    path: `${path}/{environment}`,
    id: 'deleteEnvironment',
    needsApproval: true,
    isHeavy: true,
    role: 'admin',
    summary: 'Delete an environment and its states',
    answer: {
      schema: DoneSchema,
      description: 'The environment is deleted and its streams are closed.',
    },
    handle: async ({ params, actor }) => done(await deleteEnvironment(context, actor, params)),
  });
}
