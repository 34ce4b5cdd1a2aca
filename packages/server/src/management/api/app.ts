import { REQUEST_ID_HEADER } from '@halyard/protocol';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import type { DeliveryReader } from '../../domain/delivery.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OpenStream } from '../../domain/read-side.ts';
import { errorResponse, notFound, refuseMethod } from '../../http/errors.ts';
import { requestIdOf } from '../../http/request.ts';
import {
  type DashboardEvents,
  mountClients,
  mountDeliveries,
  mountEvents,
} from '../../nouns/deliveries/delivery-routes.ts';
import { mountReferences } from '../../nouns/history/reference-routes.ts';
import { RunningReferences } from '../../nouns/history/references.ts';
import { mountInvitations, mountSetup } from '../../nouns/people/invitation-routes.ts';
import { mountOperators } from '../../nouns/people/operator-routes.ts';
import type { PeopleContext } from '../../nouns/people/people.ts';
import { mountPassword, mountSession } from '../../nouns/people/session-routes.ts';
import { mountRelayTokens } from '../../nouns/relays/relay-token-routes.ts';
import { mountSso } from '../../nouns/sso/sso-routes.ts';
import { mountChanges, mountStream } from '../../nouns/states/state-routes.ts';
import { mountWebhooks } from '../../nouns/webhooks/webhook-routes.ts';
import type { WebhookSender } from '../../nouns/webhooks/webhook-sender.ts';
import { mountBulkArchive } from '../flags/flag-routes.ts';
import { notePending } from './answers.ts';
import { authenticate, guardAgainstOtherPages, noteCaller } from './authentication.ts';
import { type HeavyThread, mountHeavyOperations } from './heavy-calls.ts';
import { IncomingBodies } from './incoming-bodies.ts';
import { mountOpenApi, OPENAPI_PATH } from './openapi.ts';
import type { ManagementApp, ManagementEnv } from './operation.ts';

/** The parts of the management API. */
export interface ManagementAppOptions {
  readonly context: PeopleContext;
  /** Whether to trust `X-Forwarded-For` for the audit log, and `X-Forwarded-Host` for the origin of pages. */
  readonly trustProxy: boolean;
  /** Base of the documentation links, without a trailing slash. */
  readonly docsUrl: string;
  /** The program's version, for the OpenAPI document. */
  readonly version: string;
  readonly log: Logger;
  /** Whether this node serves the row `seq` of the log. */
  readonly hasApplied: (seq: number) => boolean;
  readonly openStream: OpenStream;
  readonly events: DashboardEvents;
  readonly deliveries: DeliveryReader;
  readonly webhooks: WebhookSender;
  /** Where heavy operations run; default: here. */
  readonly thread?: HeavyThread | undefined;
}

/** The whole management API: everything under `/api`. */
export function createManagementApp(options: ManagementAppOptions): ManagementApp {
  const { context, docsUrl, log } = options;
  const app: ManagementApp = new OpenAPIHono<ManagementEnv>();
  const refuse = (error: unknown, requestId: string) => errorResponse(error, { docsUrl, requestId, log });
  app.onError((error, c) => {
    const answer = refuse(error, c.get('requestId'));
    if (error instanceof ServiceError && error.code === 'invalid_access_token') {
      answer.headers.set('WWW-Authenticate', 'Bearer');
    }
    return answer;
  });
  app.use(frame);
  app.use(async (c, next) => {
    await next();
    notePending({ method: c.req.method, headers: c.res.headers }, options.hasApplied);
  });
  mountOpenApi(app, options.version);
  app.use(noteCaller({ ...options, publicUrl: context.publicUrl }));
  app.use(guardAgainstOtherPages({ ...options, publicUrl: context.publicUrl }));
  mountSession(app, context, log);
  mountSso(app, context, log);
  mountSetup(app, context);
  const running = new RunningReferences();
  const bodies = new IncomingBodies();
  app.use(async (c, next) => {
    c.set('bodies', bodies);
    await next();
  });
  app.use(authenticate({ ...options, running }));
  mountReferences(app, context, running);
  mountPassword(app, context);
  mountOperators(app, context);
  mountInvitations(app, context);
  mountHeavyOperations(app, context);
  mountBulkArchive(app, context, log);
  mountChanges(app, context);
  mountStream(app, options.openStream);
  mountEvents(app, options.events);
  mountDeliveries(app, context, options.deliveries);
  mountClients(app, context, options.deliveries);
  mountRelayTokens(app, context);
  mountWebhooks(app, { ...context, sender: options.webhooks });
  const methodsOf = allowedMethods(app);
  app.notFound((c) => {
    const requestId = c.get('requestId');
    const methods = methodsOf(c.req.path);
    if (methods.length === 0) return refuse(notFound(c.req.path), requestId);
    return refuseMethod(c.req.method, methods, { docsUrl, requestId, log });
  });
  return app;
}

/** Adds the request's id to every answer, and keeps browsers from storing, running or framing it. */
const frame: MiddlewareHandler<ManagementEnv> = async (c, next) => {
  c.set('requestId', requestIdOf(c.req.raw));
  await next();
  const { headers } = c.res;
  headers.set(REQUEST_ID_HEADER, c.get('requestId'));
  if (!headers.has('Cache-Control')) {
    headers.set('Cache-Control', c.req.path === OPENAPI_PATH ? 'no-cache' : 'no-store');
  }
  headers.set('X-Content-Type-Options', 'nosniff');
  headers.set('Referrer-Policy', 'no-referrer');
  headers.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
};

/** Returns the methods of a path; empty for an unknown path. Built once all routes are mounted. */
function allowedMethods(app: ManagementApp): (path: string) => readonly string[] {
  const routes = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({
      method,
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
    }));
  return (path) => {
    const methods = new Set(routes.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : [])));
    // A GET route also answers HEAD.
    return [...(methods.has('GET') ? [...methods, 'HEAD'] : methods)].sort();
  };
}
