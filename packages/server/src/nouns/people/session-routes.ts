import type { Logger } from 'pino';
import { invalid, ServiceError } from '../../domain/errors.ts';
import { created, done, isoTime, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { DoneSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { Written } from '../../management/write.ts';
import { isManagedBySso, SSO_PATHS, sessionLifetime } from '../sso/sso.ts';
import { type ActiveSession, sessionEnd } from './operator.ts';
import { isSetupNeeded } from './operators.ts';
import type { PeopleContext } from './people.ts';
import { operatorRecord, SecretSchema, SessionSchema } from './people-schemas.ts';
import {
  changePassword,
  endCookies,
  type StartedSession,
  sessionIdIn,
  signIn,
  signOut,
  startCookie,
  verifySession,
} from './sessions.ts';

const tag = 'Session';
const path = '/api/session';

/** Mounts the routes that sign in and out; they need no authentication. */
export function mountSession(app: ManagementApp, context: PeopleContext, log: Logger): void {
  const { mountPublic } = tagged(app, tag);
  mountPublic({
    method: 'get',
    path,
    id: 'getSession',
    summary: 'Whether this browser is signed in, as whom, and whether the server is set up',
    answer: { description: 'The session.', schema: SessionSchema },
    handle: async ({ request }) => {
      const active = await sessionOf(context, request);
      if (active !== undefined) return ok(sessionRecord(context, active));
      return ok({ signedIn: false, setupNeeded: await isSetupNeeded(context), ...ssoRecord(context) });
    },
  });

  mountPublic({
    method: 'post',
    path,
    id: 'signIn',
    errors: ['sign_in_failed', 'rate_limited'],
    summary: 'Sign in with a password: the answer sets a session cookie with a new id',
    body: { schema: z.strictObject({ email: z.string(), password: SecretSchema }), maxBytes: 16_384 },
    answer: { description: 'The session.', schema: SessionSchema },
    handle: async ({ body, request, caller }) => {
      const { settings } = context.sso ?? {};
      if (settings?.only) {
        throw new ServiceError(
          'forbidden',
          `This server accepts no passwords: sign in with ${settings.label}, at ${context.publicUrl}${SSO_PATHS.start}.`,
        );
      }
      const started = await signIn(context, body, caller).catch((error: unknown) => {
        if (error instanceof ServiceError)
          log.warn({ ip: caller.ip, code: error.code }, 'a sign-in was refused');
        throw error;
      });
      return ok(sessionRecord(context, started), {
        'Set-Cookie': startCookie(request, started.id, context.publicUrl),
      });
    },
  });

  mountPublic({
    method: 'delete',
    path,
    id: 'signOut',
    summary: 'Sign out; succeeds for an ended session, too',
    answer: {
      schema: DoneSchema.extend({
        continueAt: z.string().optional().openapi({
          description: 'Where the browser ends the session at the identity provider, too.',
        }),
      }),
      description: 'The session has ended, and its cookie is removed.',
    },
    handle: async ({ request, caller }) => {
      const active = await sessionOf(context, request);
      const { seq } = active === undefined ? {} : await signOut(context, active, caller);
      const answer = ok({ seq, continueAt: await providerSignOut(context, active) });
      for (const cookie of endCookies()) answer.headers.append('Set-Cookie', cookie);
      return answer;
    },
  });
}

/** Mounts the route that changes the password of the session's operator. */
export function mountPassword(app: ManagementApp, context: PeopleContext): void {
  const { mount } = tagged(app, tag);
  mount({
    method: 'post',
    path: `${path}/password`,
    id: 'changePassword',
    role: 'viewer',
    scope: 'self',
    summary: 'Change your password; this ends all your other sessions',
    body: { schema: z.strictObject({ current: SecretSchema, next: SecretSchema }), maxBytes: 16_384 },
    answer: { schema: DoneSchema, description: 'The password is changed.' },
    errors: ['sign_in_failed', 'rate_limited'],
    handle: async ({ body, actor, session }) => {
      if (session === undefined) throw invalid('An access token has no password: sign in to change yours.');
      if (session.operator.identity !== undefined)
        throw invalid('You sign in by single sign-on and have no password.');
      return done(await changePassword(context, actor, session, body));
    },
  });
}

/** The answer to a person who joined with a link: 201, and signed in. */
export function joined(context: PeopleContext, request: Request, started: Written<StartedSession>): Response {
  return created(sessionRecord(context, started), {
    'Set-Cookie': startCookie(request, started.id, context.publicUrl),
  });
}

async function sessionOf(context: PeopleContext, request: Request): Promise<ActiveSession | undefined> {
  const id = request.headers.has('Authorization') ? undefined : sessionIdIn(request, context.publicUrl);
  return id === undefined ? undefined : verifySession(context, id);
}

/** Where the browser signs out of the provider, for a session of it. */
async function providerSignOut(
  { sso, publicUrl }: PeopleContext,
  active: ActiveSession | undefined,
): Promise<string | undefined> {
  if (active === undefined || !isManagedBySso(active.operator, sso)) return undefined;
  return sso?.provider.signOutUrl(`${publicUrl}/sign-in`);
}

/** How the sign-in page offers single sign-on. */
function ssoRecord({ sso, publicUrl }: PeopleContext) {
  if (sso === undefined) return {};
  const { label, only } = sso.settings;
  return { sso: { label, only, url: publicUrl + SSO_PATHS.start } };
}

function sessionRecord(context: PeopleContext, { session, operator, seq }: Written<ActiveSession>) {
  const { createdAt: _, lastSeenAt: __, ...record } = operatorRecord(operator);
  return {
    signedIn: true,
    setupNeeded: false,
    operator: record,
    expiresAt: isoTime(sessionEnd(session, sessionLifetime(operator, context.sso))),
    evaluationUrl: context.evaluationUrl,
    ...ssoRecord(context),
    seq,
  };
}
