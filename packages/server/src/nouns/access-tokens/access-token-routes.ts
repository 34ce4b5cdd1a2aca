import { defined } from '@halyard/protocol';
import { invalid } from '../../domain/errors.ts';
import { created, done, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../../management/api/pages.ts';
import { rightsRecord } from '../../management/api/rights-schemas.ts';
import { DoneSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { AccessToken } from './access-token.ts';
import {
  CreatedTokenSchema,
  NewOwnTokenSchema,
  NewTokenSchema,
  TokenRecordSchema,
  tokenRecord,
  WhoAmISchema,
} from './access-token-schemas.ts';
import {
  type CreatedAccessToken,
  createAccessToken,
  createOwnToken,
  defaultExpiry,
  listAccessTokens,
  listOwnTokens,
  revokeAccessToken,
} from './access-tokens.ts';

const tag = 'Access tokens';

/** Mounts the routes of access tokens, and the one that names the caller. */
export function mountAccessTokens(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, tag);
  mount({
    method: 'get',
    path: '/api/whoami',
    id: 'whoAmI',
    role: 'viewer',
    scope: 'self',
    summary: 'The name and permissions of the caller',
    answer: { description: 'The caller.', schema: WhoAmISchema },
    handle: ({ actor: { name, permissions } }) => {
      const own = name.replace(/^(token|operator):/, '');
      return ok({ name: own, ...rightsRecord(permissions), only: permissions.only });
    },
  });

  mount({
    method: 'get',
    path: '/api/tokens',
    id: 'listAccessTokens',
    isHeavy: true,
    role: 'admin',
    scope: 'visible',
    summary: 'List all access tokens, including revoked and expired ones',
    query: z.strictObject(pageQuery),
    answer: {
      description: 'The tokens, without their values.',
      schema: z.object({ tokens: z.array(TokenRecordSchema), ...nextMember }),
    },
    handle: async ({ actor, query }) => {
      const page = pageOf(query, ['name', 'id'] as const);
      const place = ({ name, id }: AccessToken) => [name, id] as const;
      const tokens = pageIn(await listAccessTokens(context, actor), page, place);
      return ok(listAnswer('tokens', tokens, { page, record: tokenRecord, place }));
    },
  });

  mount({
    method: 'post',
    path: '/api/tokens',
    id: 'createAccessToken',
    errors: ['already_exists', 'project_not_found'],
    role: 'admin',
    scope: 'visible',
    summary: 'Create an access token, by default for an editor of all projects; its value is shown only once',
    body: { schema: NewTokenSchema },
    answer: { status: 201, description: 'The token with its value.', schema: CreatedTokenSchema },
    handle: async ({ body, actor }) => {
      const made = await createAccessToken(context, actor, withExpiry(body, context.now()));
      return created(createdRecord(made));
    },
  });

  mount({
    method: 'delete',
    path: '/api/tokens/{id}',
    id: 'revokeAccessToken',
    errors: ['not_found'],
    role: 'admin',
    scope: 'visible',
    summary: 'Revoke an access token permanently',
    answer: { schema: DoneSchema, description: 'The token no longer works.' },
    handle: async ({ params, actor }) => done(await revokeAccessToken(context, actor, { id: params.id })),
  });

  mountOwnTokens(app, context);
}

/** Mounts the routes by which people manage the tokens that belong to them. */
function mountOwnTokens(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, tag);
  const path = '/api/session/tokens';
  const own = { role: 'viewer', scope: 'self' } as const;

  mount({
    ...own,
    method: 'get',
    path,
    id: 'listOwnTokens',
    summary: 'List the access tokens that belong to you, including revoked and expired ones',
    answer: {
      description: 'The tokens, without their values.',
      schema: z.object({ tokens: z.array(TokenRecordSchema) }),
    },
    handle: async ({ session }) => {
      const tokens = session === undefined ? [] : await listOwnTokens(context, session.operator.id);
      return ok({ tokens: tokens.map(tokenRecord) });
    },
  });

  mount({
    ...own,
    method: 'post',
    path,
    id: 'createOwnToken',
    errors: ['already_exists'],
    summary:
      'Create an access token that belongs to you: it does no more than you may, and ends with you; its value is shown only once',
    body: { schema: NewOwnTokenSchema },
    answer: { status: 201, description: 'The token with its value.', schema: CreatedTokenSchema },
    handle: async ({ body, actor, session }) => {
      if (session === undefined)
        throw invalid('Only people have tokens that belong to them: sign in to create yours.');

      const input = { ...withExpiry(body, context.now()), ownerId: session.operator.id };
      return created(createdRecord(await createOwnToken(context, actor, input)));
    },
  });

  mount({
    ...own,
    method: 'delete',
    path: `${path}/{id}`,
    id: 'revokeOwnToken',
    errors: ['not_found'],
    summary: 'Revoke an access token that belongs to you',
    answer: { schema: DoneSchema, description: 'The token no longer works.' },
    handle: async ({ params: { id }, actor, session }) =>
      done(await revokeAccessToken(context, actor, { id, ownerId: session?.operator.id ?? '' })),
  });
}

/** The input with its expiry as a time: the default one if it is absent, none for `null`. */
function withExpiry<Input extends { readonly expiresAt?: string | null | undefined }>(
  { expiresAt, ...input }: Input,
  now: number,
) {
  if (expiresAt === null) return defined(input);
  return defined({
    ...input,
    expiresAt: expiresAt === undefined ? defaultExpiry(now) : Date.parse(expiresAt),
  });
}

function createdRecord({ token, seq, ...record }: CreatedAccessToken) {
  return { ...tokenRecord(record), token, seq };
}
