import { defined } from '@halyard/protocol';
import { z } from '@hono/zod-openapi';
import { created, done, isoTime, isoTimeOr, ok } from '../api/answers.ts';
import { type ManagementApp, mount } from '../api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../api/pages.ts';
import { DoneSchema, LabelSchema, NameSchema, seqMember, TimeSchema } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { createRelayToken, listRelayTokens, type NamedRelayToken, revokeRelayToken } from './relay-tokens.ts';

const tag = 'Relay tokens';

const scopeMembers = {
  projects: z.array(NameSchema).optional().openapi({ description: 'Absent: all, future ones included.' }),
  environments: z.array(NameSchema).optional().openapi({ description: 'Absent: all.' }),
} as const;

/** A relay token without the token itself. */
export const RelayTokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    ...scopeMembers,
    deletedProjects: z.number().int().min(1).optional().openapi({
      description:
        'How many more projects it was made for that were deleted. It gets nothing of a later project of the same name.',
    }),
    createdAt: TimeSchema,
    revokedAt: TimeSchema.optional(),
    lastUsedAt: TimeSchema.optional().openapi({
      description: 'When a relay last followed with it, to about half a minute.',
    }),
  })
  .openapi('RelayToken');

/** Mounts the routes of relay tokens. */
export function mountRelayTokens(app: ManagementApp, context: ManagementContext): void {
  mount(
    app,
    {
      method: 'get',
      path: '/api/relay-tokens',
      id: 'listRelayTokens',
      tag,
      role: 'admin',
      scope: 'visible',
      summary: 'List all relay tokens, including revoked ones',
      query: z.strictObject(pageQuery),
      answer: {
        status: 200,
        description: 'The tokens, without their values.',
        schema: z.object({ relayTokens: z.array(RelayTokenSchema), ...nextMember }),
      },
    },
    async ({ actor, query }) => {
      const page = pageOf(query, ['name', 'id'] as const);
      const place = ({ name, id }: NamedRelayToken) => [name, id] as const;
      const relayTokens = pageIn(await listRelayTokens(context, actor), page, place);
      return ok(listAnswer('relayTokens', relayTokens, { page, record: relayTokenRecord, place }));
    },
  );
  mount(
    app,
    {
      method: 'post',
      path: '/api/relay-tokens',
      id: 'createRelayToken',
      tag,
      errors: ['already_exists', 'project_not_found', 'environment_not_found'],
      role: 'admin',
      scope: 'visible',
      summary: 'Create a relay token; its value is shown only once',
      body: { schema: z.strictObject({ name: LabelSchema, ...scopeMembers }) },
      answer: {
        status: 201,
        description: 'The token with its value.',
        schema: RelayTokenSchema.extend({ token: z.string(), ...seqMember }).openapi('CreatedRelayToken'),
      },
    },
    async ({ body, actor }) => {
      const { record, token } = await createRelayToken(context, actor, {
        name: body.name,
        ...defined({ projects: body.projects, environments: body.environments }),
      });
      return created({ ...relayTokenRecord(record), token, seq: record.seq });
    },
  );
  mount(
    app,
    {
      method: 'delete',
      path: '/api/relay-tokens/{id}',
      id: 'revokeRelayToken',
      tag,
      errors: ['not_found'],
      role: 'admin',
      scope: 'visible',
      summary: 'Revoke a relay token permanently; its relays lose the log at once',
      answer: { status: 200, schema: DoneSchema, description: 'The token no longer works.' },
    },
    async ({ params, actor }) => done(await revokeRelayToken(context, actor, params.id)),
  );
}

function relayTokenRecord(token: NamedRelayToken) {
  const { id, name, projects, deletedProjects, environments, createdAt, revokedAt, lastUsedAt } = token;
  return {
    id,
    name,
    projects: projects && [...projects],
    deletedProjects,
    environments: environments && [...environments],
    createdAt: isoTime(createdAt),
    revokedAt: isoTimeOr(revokedAt),
    lastUsedAt: isoTimeOr(lastUsedAt),
  };
}
