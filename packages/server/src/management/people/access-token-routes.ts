import { defined } from '@halyard/protocol';
import { z } from '@hono/zod-openapi';
import type { AccessToken } from '../../domain/people.ts';
import { created, damageOf, done, isoTime, isoTimeOr, ok } from '../api/answers.ts';
import { type ManagementApp, mount } from '../api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../api/pages.ts';
import { DoneSchema, LabelSchema, seqMember, TimeSchema } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { createAccessToken, listAccessTokens, revokeAccessToken } from './access-tokens.ts';
import { permissionMembers, TokenRecordSchema } from './people-schemas.ts';

const tag = 'Access tokens';

const WhoAmISchema = z.object({ name: z.string(), ...permissionMembers });

/** Mounts the routes of access tokens, and the one that names the caller. */
export function mountAccessTokens(app: ManagementApp, context: ManagementContext): void {
  mount(
    app,
    {
      method: 'get',
      path: '/api/whoami',
      id: 'whoAmI',
      tag,
      role: 'viewer',
      summary: 'The name and permissions of the caller',
      answer: { status: 200, description: 'The caller.', schema: WhoAmISchema },
    },
    ({ actor: { name, permissions } }) => {
      const { role, canChangeProtected } = permissions;
      return ok({ name: name.replace(/^(token|operator):/, ''), role, canChangeProtected });
    },
  );
  mount(
    app,
    {
      method: 'get',
      path: '/api/tokens',
      id: 'listAccessTokens',
      isHeavy: true,
      tag,
      role: 'admin',
      summary: 'List all access tokens, including revoked and expired ones',
      query: z.strictObject(pageQuery),
      answer: {
        status: 200,
        description: 'The tokens, without their values.',
        schema: z.object({ tokens: z.array(TokenRecordSchema), ...nextMember }),
      },
    },
    async ({ query }) => {
      const page = pageOf(query, ['name', 'id'] as const);
      const place = ({ name, id }: AccessToken) => [name, id] as const;
      const tokens = pageIn(await listAccessTokens(context), page, place);
      return ok(listAnswer('tokens', tokens, { page, record: tokenRecord, place }));
    },
  );
  mount(
    app,
    {
      method: 'post',
      path: '/api/tokens',
      id: 'createAccessToken',
      tag,
      errors: ['already_exists'],
      role: 'admin',
      summary: 'Create an access token; its value is shown only once',
      body: {
        schema: z.strictObject({
          name: LabelSchema,
          role: permissionMembers.role.optional().openapi({ description: 'Defaults to `admin`.' }),
          canChangeProtected: permissionMembers.canChangeProtected.optional(),
          expiresAt: TimeSchema.optional(),
        }),
      },
      answer: {
        status: 201,
        description: 'The token with its value.',
        schema: TokenRecordSchema.extend({ token: z.string(), ...seqMember }).openapi('CreatedAccessToken'),
      },
    },
    async ({ body: { name, role, canChangeProtected, expiresAt }, actor }) => {
      const expiry = expiresAt === undefined ? undefined : Date.parse(expiresAt);
      const input = { name, ...defined({ role, canChangeProtected, expiresAt: expiry }) };
      const token = await createAccessToken(context, actor, input);
      return created({ ...tokenRecord(token.record), token: token.token, seq: token.record.seq });
    },
  );
  mount(
    app,
    {
      method: 'delete',
      path: '/api/tokens/{id}',
      id: 'revokeAccessToken',
      tag,
      errors: ['not_found'],
      role: 'admin',
      summary: 'Revoke an access token permanently',
      answer: { status: 200, schema: DoneSchema, description: 'The token no longer works.' },
    },
    async ({ params, actor }) => done(await revokeAccessToken(context, actor, params.id)),
  );
}

function tokenRecord(token: AccessToken) {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    canChangeProtected: token.canChangeProtected,
    createdAt: isoTime(token.createdAt),
    expiresAt: isoTimeOr(token.expiresAt),
    revokedAt: isoTimeOr(token.revokedAt),
    lastUsedAt: isoTimeOr(token.lastUsedAt),
    ...damageOf(token),
  };
}
