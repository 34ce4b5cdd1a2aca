import { REQUEST_ID_HEADER } from '@halyard/protocol';
import type { Server } from 'bun';
import { ServiceError } from '../domain/errors.ts';
import { errorResponse, notFound, refuseMethod } from '../http/errors.ts';
import { pathOf, requestIdOf } from '../http/request.ts';
import { ANSWER_HEADERS, notePending } from '../management/api/answers.ts';
import type { HeavyThread } from '../management/api/heavy-call.ts';
import { type FoundRoute, ManagementApp, type ManagementRequest } from '../management/api/management-app.ts';
import type { ManagementContext } from '../management/context.ts';
import { RunningReferences } from '../nouns/history/references.ts';
import { proposalDesk } from '../nouns/proposals/proposal-desk.ts';
import type { Repeat } from '../nouns/proposals/proposals.ts';
import { authentication, callerOf, requireOwnPage } from './authentication.ts';
import { mountNouns, mountPublicNouns, type NodeParts } from './nouns.ts';
import { mountOpenApi } from './openapi.ts';
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
export interface ManagementApi {
  /** Its operations. */
  readonly app: ManagementApp;
  /** Answers a request. `server` is the listener, which knows the caller's address. */
  readonly answer: (request: Request, server?: Server<undefined>) => Promise<Response>;
}

/** Creates the management API of a node. */
export function createManagementApp(options: ManagementAppOptions): ManagementApi {
  const { context, docsUrl, log, thread, trustProxy } = options;
  const app = new ManagementApp({ proposals: proposalDesk(context), thread });
  const running = new RunningReferences();
  mountOpenApi(app, options.version);
  mountPublicNouns(app, options);
  mountNouns(app, context, repeating(context), { ...options, running });

  const ownPages = { publicUrl: context.publicUrl, trustProxy };
  const authenticate = authentication(options);

  const answer = async (request: ManagementRequest, route: FoundRoute['route'] | undefined) => {
    requireOwnPage(request.raw, ownPages);
    if (route !== undefined && 'answerAnyone' in route)
      return route.answerAnyone(request, callerOf(request, ownPages));

    const author = await authenticate(request);
    if (route === undefined) return refuseUnknown(request);
    return running.during(author.actor, async () => route.answer(request, author));
  };

  const refuseUnknown = ({ raw, requestId }: ManagementRequest) => {
    const methods = app.methodsOf(pathOf(raw));
    if (methods.length === 0) throw notFound(pathOf(raw));
    return refuseMethod(raw.method, methods, { docsUrl, requestId, log });
  };

  const refuse = (error: unknown, requestId: string) => {
    const refusal = errorResponse(error, { docsUrl, requestId, log });
    if (error instanceof ServiceError && error.code === 'invalid_access_token')
      refusal.headers.set('WWW-Authenticate', 'Bearer');
    return refusal;
  };

  return {
    app,
    answer: async (raw, server) => {
      const requestId = requestIdOf(raw);
      const { route, params = {} } = app.find(raw.method, pathOf(raw)) ?? {};
      const request = { raw, requestId, params, server };
      const response = await answer(request, route).catch((error: unknown) => refuse(error, requestId));

      notePending({ method: raw.method, headers: response.headers }, options.hasApplied);
      frame(response.headers, requestId);
      return raw.method === 'HEAD' ? new Response(null, response) : response;
    },
  };
}

/** Runs what was proposed. It is mounted when it is first needed: few installations require approvals. */
function repeating(context: ManagementContext): Repeat {
  let operations: Repeat | undefined;
  return (call) => {
    operations ??= createHeavyOperations(context);
    return operations(call);
  };
}

/** Adds the request's id to an answer, and keeps browsers from storing, running or framing it. */
function frame(headers: Headers, requestId: string): void {
  headers.set(REQUEST_ID_HEADER, requestId);
  for (const [name, value] of FRAME) if (!headers.has(name)) headers.set(name, value);
}

const FRAME = Object.entries(ANSWER_HEADERS);
