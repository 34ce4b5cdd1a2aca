import { defined } from '@halyard/protocol';
import { created, done, isoTime, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { rightsMembers, rightsRecord } from '../../management/api/rights-schemas.ts';
import { DoneSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
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

const offered = {
  status: 201,
  description: 'The link, shown only once.',
  schema: OfferedLinkSchema,
} as const;

/** Mounts the routes that manage invitations and password reset links. */
export function mountInvitations(app: ManagementApp, context: PeopleContext): void {
  const { mount } = tagged(app, 'Operators');
  mount({
    method: 'get',
    path: '/api/invitations',
    id: 'listInvitations',
    role: 'admin',
    scope: 'visible',
    summary: 'List the open one-time links, newest first',
    answer: {
      description: 'The links, without their tokens.',
      schema: z.object({ invitations: z.array(InvitationRecordSchema) }),
    },
    handle: async ({ actor }) =>
      ok({ invitations: (await listInvitations(context, actor)).map(invitationRecord) }),
  });

  mount({
    method: 'post',
    path: '/api/invitations',
    id: 'inviteOperator',
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
    handle: async ({ body: { email, ...rights }, actor }) =>
      offeredLink(await invite(context, actor, { email, ...defined(rights) })),
  });

  mount({
    method: 'delete',
    path: '/api/invitations/{id}',
    id: 'revokeInvitation',
    errors: ['not_found'],
    role: 'admin',
    scope: 'visible',
    summary: 'Revoke a one-time link',
    answer: { schema: DoneSchema, description: 'The link no longer works.' },
    handle: async ({ params, actor }) => done(await revokeInvitation(context, actor, params.id)),
  });

  mount({
    method: 'post',
    path: '/api/operators/{id}/reset',
    id: 'resetPassword',
    errors: ['not_found'],
    role: 'admin',
    scope: 'server',
    summary: 'Create a password reset link; the old password works until it is used',
    answer: offered,
    handle: async ({ params, actor }) => offeredLink(await offerReset(context, actor, params.id)),
  });
}

function offeredLink(offered: Written<OfferedLink>): Response {
  const { token, link, seq } = offered;
  return created({ ...invitationRecord(offered), token, link, seq });
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
  const { mountPublic } = tagged(app, 'Session');
  mountPublic({
    method: 'post',
    path: '/api/setup',
    id: 'setUp',
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
    handle: async ({ body, caller, request }) => joined(context, request, await setUp(context, body, caller)),
  });

  mountPublic({
    method: 'post',
    path: '/api/invitations/inspect',
    id: 'inspectInvitation',
    summary: 'Describe a one-time link without using it',
    body: { schema: z.strictObject({ token: SecretSchema }), maxBytes },
    answer: { description: 'The purpose of the link.', schema: LinkSchema },
    errors: ['invitation_invalid'],
    handle: async ({ body }) => {
      const { kind, email, expiresAt, ...rights } = await inspectInvitation(context, body.token);
      return ok({ kind, email, ...rightsRecord(rights), expiresAt: isoTime(expiresAt) });
    },
  });

  mountPublic({
    method: 'post',
    path: '/api/invitations/accept',
    id: 'acceptInvitation',
    summary: 'Accept an invitation or reset a password, and sign in',
    body: {
      schema: z.strictObject({ token: SecretSchema, name: z.string().optional(), password: SecretSchema }),
      maxBytes,
    },
    answer: { status: 201, description: 'The session.', schema: SessionSchema },
    errors: [...linkErrors, 'already_exists'],
    handle: async ({ body, caller, request }) =>
      joined(context, request, await acceptInvitation(context, defined(body), caller)),
  });
}
