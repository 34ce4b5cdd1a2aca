import type { ProjectKey } from '../../domain/project.ts';
import { created, damageOf, isoTime, isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageOf, pageQuery } from '../../management/api/pages.ts';
import {
  KeyRecordSchema,
  LabelSchema,
  NameSchema,
  seqMember,
  TimeSchema,
} from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Written } from '../../management/write.ts';
import {
  createProjectKey,
  getProjectKey,
  listProjectKeys,
  OVERLAP_MS,
  projectKeyStatus,
  replaceProjectKey,
  revokeProjectKey,
} from './project-keys.ts';

const path = '/api/projects/{project}/keys';
const DAY_MS = 86_400_000;

/** Mounts the routes of project keys. */
export function mountProjectKeys(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Project keys');
  const record = (key: ProjectKey) => keyRecord(key, context.now());
  mount({
    method: 'get',
    path,
    id: 'listProjectKeys',
    isHeavy: true,
    role: 'viewer',
    summary: 'List the keys of a project, including revoked and expired ones',
    query: z.strictObject(pageQuery),
    answer: {
      description: 'The keys, never their values.',
      schema: z.object({ keys: z.array(KeyRecordSchema), ...nextMember }),
    },
    handle: async ({ params, query, actor }) => {
      const page = pageOf(query, ['name', 'id'] as const);
      const keys = await listProjectKeys(context, actor, { ...params, page });
      return ok(listAnswer('keys', keys, { page, record, place: ({ name, id }) => [name, id] as const }));
    },
  });

  mount({
    method: 'post',
    path,
    id: 'createProjectKey',
    role: 'admin',
    summary: 'Create a project key; its value is shown only once',
    body: {
      schema: z.strictObject({
        name: LabelSchema,
        environments: z.array(NameSchema),
        expiresAt: TimeSchema.optional(),
      }),
    },
    answer: {
      status: 201,
      description: 'The key with its value.',
      schema: KeyRecordSchema.extend({ key: z.string(), ...seqMember }).openapi('CreatedProjectKey'),
    },
    errors: ['environment_not_found'],
    handle: async ({ params, body, actor }) => {
      const { name, environments, expiresAt } = body;
      const made = await createProjectKey(context, actor, {
        project: params.project,
        name,
        environments,
        ...(expiresAt === undefined ? {} : { expiresAt: Date.parse(expiresAt) }),
      });
      return created({ ...record(made), key: made.key });
    },
  });

  mount({
    method: 'get',
    path: '/api/keys/{id}',
    id: 'getProjectKey',
    errors: ['key_not_found'],
    role: 'viewer',
    scope: 'visible',
    summary: 'Read one project key',
    answer: { description: 'The key, never its value.', schema: KeyRecordSchema },
    handle: async ({ params, actor }) => ok(record(await getProjectKey(context, actor, params.id))),
  });

  mount({
    method: 'post',
    path: '/api/keys/{id}/replace',
    id: 'replaceProjectKey',
    errors: ['key_not_found', 'key_ended'],
    role: 'admin',
    scope: 'visible',
    summary:
      'Create a key with the settings of this one, which ends later; the value of the new one is shown only once',
    body: {
      schema: z.strictObject({
        endsAt: TimeSchema.optional().openapi({
          description: `When this key ends, unless it expires sooner; default in ${OVERLAP_MS / DAY_MS} days.`,
        }),
      }),
    },
    answer: {
      status: 201,
      description: 'The new key with its value, and the one that it replaces.',
      schema: KeyRecordSchema.extend({
        key: z.string(),
        replaced: KeyRecordSchema,
        ...seqMember,
      }).openapi('ReplacedProjectKey'),
    },
    handle: async ({ params, body: { endsAt }, actor }) => {
      const made = await replaceProjectKey(context, actor, {
        id: params.id,
        endsAt: endsAt === undefined ? undefined : Date.parse(endsAt),
      });
      return created({ ...record(made), key: made.key, replaced: record(made.replaced) });
    },
  });

  mount({
    method: 'delete',
    path: '/api/keys/{id}',
    id: 'revokeProjectKey',
    errors: ['key_not_found'],
    role: 'admin',
    scope: 'visible',
    summary: 'Revoke a project key permanently and close its streams',
    answer: { description: 'The revoked key.', schema: KeyRecordSchema.extend(seqMember) },
    handle: async ({ params, actor }) => ok(record(await revokeProjectKey(context, actor, params.id))),
  });
}

function keyRecord(key: Written<ProjectKey>, now: number) {
  return {
    id: key.id,
    name: key.name,
    lastFour: key.lastFour,
    environments: key.environments,
    createdAt: isoTime(key.createdAt),
    expiresAt: isoTimeOr(key.expiresAt),
    revokedAt: isoTimeOr(key.revokedAt),
    lastUsedAt: isoTimeOr(key.lastUsedAt),
    status: projectKeyStatus(key, now),
    replacedBy: key.replacedBy,
    ...damageOf(key),
    seq: key.seq,
  };
}
