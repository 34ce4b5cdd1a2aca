import { z } from '@hono/zod-openapi';
import { isoTime, ok } from '../api/answers.ts';
import type { ManagementApp } from '../api/management-app.ts';
import { mountPublic } from '../api/operation.ts';
import { acceptInvitation, setUp } from './joining.ts';
import { inspectInvitation } from './one-time-links.ts';
import type { PeopleContext } from './people.ts';
import { EmailSchema, LinkSchema, SecretSchema, SessionSchema } from './people-schemas.ts';
import { joined } from './session-routes.ts';

const tag = 'Session';
const maxBytes = 16_384;
const linkErrors = ['invitation_invalid', 'rate_limited'] as const;

/** Mounts what is done with a one-time link: nobody need be known for it. */
export function mountSetup(app: ManagementApp, context: PeopleContext): void {
  mountPublic(
    app,
    {
      ...{ method: 'post', path: '/api/setup', id: 'setUp', tag, errors: linkErrors },
      summary: 'Make the first administrator with the link that the server printed, and sign in',
      body: {
        schema: z.strictObject({
          ...{ token: SecretSchema, email: EmailSchema, name: z.string(), password: SecretSchema },
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
      ...{ method: 'post', path: '/api/invitations/inspect', id: 'inspectInvitation', tag },
      summary: 'What a one-time link is for; it stays unused',
      body: { schema: z.strictObject({ token: SecretSchema }), maxBytes },
      answer: { status: 200, description: 'What it opens.', schema: LinkSchema },
      errors: ['invitation_invalid'],
    },
    async ({ body }) => {
      const { kind, email, role, expiresAt } = await inspectInvitation(context, body.token);
      return ok({ kind, email, role, expiresAt: isoTime(expiresAt) });
    },
  );
  mountPublic(
    app,
    {
      ...{ method: 'post', path: '/api/invitations/accept', id: 'acceptInvitation', tag },
      summary: 'Follow an invitation or a link for a new password, and sign in',
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
