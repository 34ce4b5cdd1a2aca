import { defined } from '@halyard/protocol';
import { z } from '@hono/zod-openapi';
import { created, done, ok } from '../../management/api/answers.ts';
import { type ManagementApp, mount } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../../management/api/pages.ts';
import { DoneSchema } from '../../management/api/schemas.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { NamedRelayToken } from './relay-token.ts';
import {
  CreatedRelayTokenSchema,
  NewRelayTokenSchema,
  RelayTokenSchema,
  relayTokenRecord,
} from './relay-token-schemas.ts';
import { createRelayToken, listRelayTokens, revokeRelayToken } from './relay-tokens.ts';

const tag = 'Relay tokens';

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
      body: { schema: NewRelayTokenSchema },
      answer: {
        status: 201,
        description: 'The token with its value.',
        schema: CreatedRelayTokenSchema,
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
