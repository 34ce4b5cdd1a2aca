import { defined } from '@halyard/protocol';
import { z } from '@hono/zod-openapi';
import { created, done, isoTime, ok } from '../../management/api/answers.ts';
import { type ManagementApp, mount, mountPublic } from '../../management/api/operation.ts';
import { rightsMembers, rightsRecord } from '../../management/api/rights-schemas.ts';
import { DoneSchema } from '../../management/api/schemas.ts';
import type { Written } from '../../management/write.ts';
import type { Invitation } from './invitation.ts';
import {
  acceptInvitation,
  inspectInvitation,
  invite,
  listInvitations,
  type OfferedLink,
  offerReset,
  revokeInvitation,
  setUp,
} from './invitations.ts';
import type { PeopleContext } from './people.ts';
import {
  EmailSchema,
  InvitationRecordSchema,
  LinkSchema,
  OfferedLinkSchema,
  SecretSchema,
  SessionSchema,
} from './people-schemas.ts';
import { joined } from './session-routes.ts';

const tag = 'Operators';
const offered = {
  status: 201,
  description: 'The link, shown only once.',
  schema: OfferedLinkSchema,
} as const;

/** Mounts the routes that manage invitations and password reset links. */
export function mountInvitations(app: ManagementApp, context: PeopleContext): void {
  mount(
    app,
    {
      method: 'get',
      path: '/api/invitations',
      id: 'listInvitations',
      tag,
      role: 'admin',
      scope: 'visible',
      summary: 'List the open one-time links, newest first',
      answer: {
        status: 200,
        description: 'The links, without their tokens.',
        schema: z.object({ invitations: z.array(InvitationRecordSchema) }),
      },
    },
    async ({ actor }) => ok({ invitations: (await listInvitations(context, actor)).map(invitationRecord) }),
  );

  mount(
    app,
    {
      method: 'post',
      path: '/api/invitations',
      id: 'inviteOperator',
      tag,
      errors: ['already_exists', 'project_not_found'],
      role: 'admin',
      scope: 'visible',
      summary: 'Invite a person; it replaces earlier invitations of the same e-mail that you could revoke',
      body: {
        schema: z.strictObject({
          email: EmailSchema,
          ...rightsMembers,
        }),
      },
      answer: offered,
    },
    async ({ body: { email, ...rights }, actor }) =>
      offeredLink(await invite(context, actor, { email, ...defined(rights) })),
  );

  mount(
    app,
    {
      method: 'delete',
      path: '/api/invitations/{id}',
      id: 'revokeInvitation',
      tag,
      errors: ['not_found'],
      role: 'admin',
      scope: 'visible',
      summary: 'Revoke a one-time link',
      answer: { status: 200, schema: DoneSchema, description: 'The link no longer works.' },
    },
    async ({ params, actor }) => done(await revokeInvitation(context, actor, params.id)),
  );

  mount(
    app,
    {
      method: 'post',
      path: '/api/operators/{id}/reset',
      id: 'resetPassword',
      tag,
      errors: ['not_found'],
      role: 'admin',
      scope: 'server',
      summary: 'Create a password reset link; the old password works until it is used',
      answer: offered,
    },
    async ({ params, actor }) => offeredLink(await offerReset(context, actor, params.id)),
  );
}

function offeredLink({ record, token, link, seq }: Written<OfferedLink>): Response {
  return created({ ...invitationRecord(record), token, link, seq });
}

function invitationRecord(invitation: Invitation) {
  const { id, kind, email, createdBy, createdAt, expiresAt } = invitation;
  const times = { createdAt: isoTime(createdAt), expiresAt: isoTime(expiresAt) };
  return { id, kind, email, ...rightsRecord(invitation), createdBy, ...times };
}

const maxBytes = 16_384;
const linkErrors = ['invitation_invalid', 'rate_limited'] as const;

/** Mounts the routes that use a one-time link; they need no authentication. */
export function mountSetup(app: ManagementApp, context: PeopleContext): void {
  mountPublic(
    app,
    {
      method: 'post',
      path: '/api/setup',
      id: 'setUp',
      tag: 'Session',
      errors: linkErrors,
      summary: 'Create the first administrator with the link that the server printed, and sign in',
      body: {
        schema: z.strictObject({
          token: SecretSchema,
          email: EmailSchema,
          name: z.string(),
          password: SecretSchema,
        }),
        maxBytes,
      },
      answer: { status: 201, description: 'The session.', schema: SessionSchema },
    },
    async ({ body, caller, request }) => joined(context, request, await setUp(context, body, caller)),
  );

  mountPublic(
    app,
    {
      method: 'post',
      path: '/api/invitations/inspect',
      id: 'inspectInvitation',
      tag: 'Session',
      summary: 'Describe a one-time link without using it',
      body: { schema: z.strictObject({ token: SecretSchema }), maxBytes },
      answer: { status: 200, description: 'The purpose of the link.', schema: LinkSchema },
      errors: ['invitation_invalid'],
    },
    async ({ body }) => {
      const { kind, email, expiresAt, ...rights } = await inspectInvitation(context, body.token);
      return ok({ kind, email, ...rightsRecord(rights), expiresAt: isoTime(expiresAt) });
    },
  );

  mountPublic(
    app,
    {
      method: 'post',
      path: '/api/invitations/accept',
      id: 'acceptInvitation',
      tag: 'Session',
      summary: 'Accept an invitation or reset a password, and sign in',
      body: {
        schema: z.strictObject({ token: SecretSchema, name: z.string().optional(), password: SecretSchema }),
        maxBytes,
      },
      answer: { status: 201, description: 'The session.', schema: SessionSchema },
      errors: [...linkErrors, 'already_exists'],
    },
    async ({ body: { token, name, password }, caller, request }) => {
      const input = { token, password, ...(name === undefined ? {} : { name }) };
      return joined(context, request, await acceptInvitation(context, input, caller));
    },
  );
}
