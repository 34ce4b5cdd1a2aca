import { REQUEST_ID_HEADER } from '@halyard/protocol';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { ServiceError } from '../domain/errors.ts';
import { errorResponse, notFound, refuseMethod } from '../http/errors.ts';
import { requestIdOf } from '../http/request.ts';
import { notePending } from '../management/api/answers.ts';
import type { HeavyThread } from '../management/api/heavy-call.ts';
import { IncomingBodies } from '../management/api/incoming-bodies.ts';
import type { ManagementApp, ManagementEnv } from '../management/api/operation.ts';
import type { ManagementContext } from '../management/context.ts';
import { RunningReferences } from '../nouns/history/references.ts';
import type { Repeat } from '../nouns/proposals/proposals.ts';
import { authenticate, guardAgainstOtherPages, noteCaller } from './authentication.ts';
import { mountNouns, mountPublicNouns, type NodeParts } from './nouns.ts';
import { mountOpenApi, OPENAPI_PATH } from './openapi.ts';
import { createHeavyOperations } from './thread-app.ts';

/** The parts of the management API. */
export interface ManagementAppOptions extends NodeParts {
  /** Whether to trust `X-Forwarded-For` for the audit log, and `X-Forwarded-Host` for the origin of pages. */
  readonly trustProxy: boolean;
  /** Base of the documentation links, without a trailing slash. */
  readonly docsUrl: string;
  /** The program's version, for the OpenAPI document. */
  readonly version: string;
  /** Whether this node serves the row `seq` of the log. */
  readonly hasApplied: (seq: number) => boolean;
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
  mountPublicNouns(app, options);

  const running = new RunningReferences();
  const bodies = new IncomingBodies();
  app.use(async (c, next) => {
    c.set('bodies', bodies);
    await next();
  });
  app.use(authenticate({ ...options, running }));
  mountNouns(app, context, repeating(context), { ...options, running });

  const methodsOf = allowedMethods(app);
  app.notFound((c) => {
    const requestId = c.get('requestId');
    const methods = methodsOf(c.req.path);
    if (methods.length === 0) return refuse(notFound(c.req.path), requestId);
    return refuseMethod(c.req.method, methods, { docsUrl, requestId, log });
  });
  return app;
}

/** Runs what was proposed. It is mounted when it is first needed: few installations require approvals. */
function repeating(context: ManagementContext): Repeat {
  let operations: Repeat | undefined;
  return (call) => {
    operations ??= createHeavyOperations(context);
    return operations(call);
  };
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
