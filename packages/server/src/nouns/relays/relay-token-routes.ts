import { defined } from '@halyard/protocol';
import { created, done, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../../management/api/pages.ts';
import { DoneSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { NamedRelayToken } from './relay-token.ts';
import {
  CreatedRelayTokenSchema,
  NewRelayTokenSchema,
  RelayTokenSchema,
  relayTokenRecord,
} from './relay-token-schemas.ts';
import { createRelayToken, listRelayTokens, revokeRelayToken } from './relay-tokens.ts';

/** Mounts the routes of relay tokens. */
export function mountRelayTokens(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Relay tokens');
  mount({
    method: 'get',
    path: '/api/relay-tokens',
    id: 'listRelayTokens',
    role: 'admin',
    scope: 'visible',
    summary: 'List all relay tokens, including revoked ones',
    query: z.strictObject(pageQuery),
    answer: {
      description: 'The tokens, without their values.',
      schema: z.object({ relayTokens: z.array(RelayTokenSchema), ...nextMember }),
    },
    handle: async ({ actor, query }) => {
      const page = pageOf(query, ['name', 'id'] as const);
      const place = ({ name, id }: NamedRelayToken) => [name, id] as const;
      const relayTokens = pageIn(await listRelayTokens(context, actor), page, place);
      return ok(listAnswer('relayTokens', relayTokens, { page, record: relayTokenRecord, place }));
    },
  });

  mount({
    method: 'post',
    path: '/api/relay-tokens',
    id: 'createRelayToken',
    errors: ['already_exists', 'project_not_found', 'environment_not_found'],
    role: 'admin',
    scope: 'visible',
    summary: 'Create a relay token; its value is shown only once',
    body: { schema: NewRelayTokenSchema },
    answer: { status: 201, description: 'The token with its value.', schema: CreatedRelayTokenSchema },
    handle: async ({ body, actor }) => {
      const { token, seq, ...record } = await createRelayToken(context, actor, defined(body));
      return created({ ...relayTokenRecord(record), token, seq });
    },
  });

  mount({
    method: 'delete',
    path: '/api/relay-tokens/{id}',
    id: 'revokeRelayToken',
    errors: ['not_found'],
    role: 'admin',
    scope: 'visible',
    summary: 'Revoke a relay token permanently; its relays lose the log at once',
    answer: { schema: DoneSchema, description: 'The token no longer works.' },
    handle: async ({ params, actor }) => done(await revokeRelayToken(context, actor, params.id)),
  });
}
