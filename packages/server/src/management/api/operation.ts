import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ErrorCode, Role } from '@halyard/protocol';
import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Server } from 'bun';
import type { Context } from 'hono';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, RightsChanged, ServiceError } from '../../domain/errors.ts';
import { decodeBody, readBody } from '../../http/request.ts';
import type { ActiveSession } from '../../nouns/people/operator.ts';
import type { Caller } from '../context.ts';
import { authorize, type Scope } from '../rights.ts';
import { accept, parseBody } from './body.ts';
import { compressAnswer } from './compressed-answer.ts';
import { describeOperation } from './described-operation.ts';
import type { HeavyCall, HeavyThread } from './heavy-call.ts';
import type { IncomingBodies, IncomingBody } from './incoming-bodies.ts';
import { type ProposalDesk, type ProposedCall, takeWish, type Wish } from './proposal-desk.ts';

/** The context of a management request. */
export interface ManagementEnv {
  Variables: {
    requestId: string;
    /** The address of the caller. */
    caller: Caller;
    /** The author of the request; known after authentication. */
    actor: Actor;
    /** The actor's session; absent for an access token. */
    session: ActiveSession | undefined;
    /** Reads the bodies of all requests. */
    bodies: IncomingBodies;
    /** Takes proposals. */
    proposals: ProposalDesk;
    /** The author with the rights of now. Rejects once the credentials have ended. Absent in the thread. */
    currentActor: (() => Promise<Actor>) | undefined;
    /** Whether the credentials are still valid and give the same rights; checked repeatedly while a stream is open. */
    stillValid: () => Promise<boolean>;
  };
  Bindings: {
    /** The listener, which knows the caller's address; absent where requests come from no socket. */
    server?: Server<undefined>;
    /** Answers heavy operations; absent where none runs, and in the thread itself. */
    thread?: HeavyThread | undefined;
    /** The author of a call that was authorized before it came to the thread. */
    actor?: Actor;
  };
}

/** The application that all management routes are mounted on. */
export type ManagementApp = OpenAPIHono<ManagementEnv>;

/** Seconds that the work on an authenticated request may take: longer than one statement may, which is 60. */
export const WORK_SECONDS = 120;

/** Default limit of a body, in bytes. */
const DEFAULT_BODY_BYTES = 1024 * 1024;

/** The body of an operation. */
export interface BodyRule<Body> {
  readonly schema: z.ZodType<Body>;
  /** Default {@link DEFAULT_BODY_BYTES}. */
  readonly maxBytes?: number | ((actor: Actor) => number);
  /** `text`: a document, which the handler parses itself; the schema only documents it. Default `json`. */
  readonly reads?: 'json' | 'text';
  /** Documented media types. Default: JSON only. The `Content-Type` of a request is not checked against them. */
  readonly mediaTypes?: readonly string[];
}

/** One operation of the management API: what its documentation says, and what it does. */
export interface Operation<Path extends string, Body, Query> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** In OpenAPI syntax, with `{name}` for parameters. */
  readonly path: Path;
  readonly id: string;
  /** The lowest role that may call it. Reads: `viewer`; flags and states: `editor`; everything else: `admin`. */
  readonly role: Role;
  /** Whether it only sets flag states, so that tokens limited to that may call it. Requires the role `editor`. */
  readonly setsStates?: true;
  /** Whether it only reads the audit log, so that tokens limited to that may call it. */
  readonly readsAudit?: true;
  readonly summary: string;
  readonly query?: z.ZodType<Query>;
  readonly body?: BodyRule<Body>;
  /** Conditional headers that it supports. */
  readonly conditions?: readonly ('If-Match' | 'If-None-Match')[];
  /** Whether it reads `X-Confirm-Environment` although it never answers `confirmation_required` as a whole. */
  readonly confirms?: true;
  readonly answer: OperationAnswer;
  /** Whether it may change guarded environments: it needs their confirmation, and can be proposed or made in an emergency. */
  readonly needsApproval?: true;
  /** Whether it may take longer than a read of a flag can wait: it runs on the thread for such operations, if there is one. */
  readonly isHeavy?: true;
  /** What a call waits for on the node before it begins, wherever it runs. The caller's rights are checked again then. */
  readonly before?: (query: Query) => Promise<void>;
  /** Errors beyond those of every operation, of the names in its path, and of the guards of environments. */
  readonly errors?: readonly ErrorCode[];
  /** Answers a call of a caller who has the role. */
  readonly handle: (call: Call<Path, Body, Query>) => Response | Promise<Response>;
}

/** What does not depend on the types of a call's parts. */
export type AnyOperation = Omit<Operation<string, unknown, unknown>, 'before' | 'handle'>;

/**
 * Where the role of an operation is required. A path with `{project}` says it: in that project. Any other operation
 * declares it.
 */
export type OperationScope<Path extends string> = Path extends `${string}{project}${string}`
  ? { readonly scope?: never }
  : { readonly scope: Exclude<Scope, 'project'> };

/** The successful answer of an {@link Operation}. */
export interface OperationAnswer {
  /** Default 200. */
  readonly status?: 200 | 201 | 204 | 303;
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Default: JSON only. */
  readonly mediaTypes?: readonly string[];
  /** The meaning of the `ETag` header, if the answer has one. */
  readonly tagOf?: string;
}

/** One call of an operation, checked as far as possible without the database. */
export interface Call<Path extends string, Body, Query> {
  readonly params: Params<Path>;
  readonly query: Query;
  readonly body: Body;
  /** The raw body; empty without one. */
  readonly text: string;
  readonly actor: Actor;
  /** The actor's session; absent for access tokens. */
  readonly session: ActiveSession | undefined;
  readonly request: Request;
  readonly requestId: string;
  /** Whether the credentials are still valid and give the same rights; for long answers. */
  readonly stillValid: () => Promise<boolean>;
  /** Lifts the listener's idle timeout for a long answer. */
  readonly keepOpen: () => void;
}

/** The parameters in a path. */
export type Params<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & Params<Rest>
  : unknown;

/** Mounts operations under a tag of the documentation: the route and the description of each. */
export function tagged(app: ManagementApp, tag: string) {
  return {
    /** Mounts an operation. The caller's role is checked before anything is read. */
    mount<Path extends string, Body = undefined, Query = undefined>(
      operation: Operation<Path, Body, Query> & OperationScope<Path>,
    ): void {
      const scope: Scope = operation.scope ?? 'project';
      app.openAPIRegistry.registerPath(describeOperation({ ...operation, tag, scope }));

      const route = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
      app.on(operation.method, route, (context) => answerCall(context, operation, scope));
    },

    /** Mounts an operation that anyone may call; it must come before authentication. */
    mountPublic<Body = undefined>(operation: PublicOperation<Body>): void {
      app.openAPIRegistry.registerPath(
        describeOperation({ ...operation, tag, role: 'anyone', scope: 'self' }),
      );
      app.on(operation.method, operation.path, (context) => answerAnyone(context, operation));
    },
  };
}

/** Answers a call: on the thread for heavy operations, if there is one. */
async function answerCall<Path extends string, Body, Query>(
  context: Context<ManagementEnv>,
  operation: Operation<Path, Body, Query>,
  scope: Scope,
): Promise<Response> {
  const level = operation.setsStates ? 'states' : operation.role;
  const project = context.req.param('project');
  const takesBody = operation.body !== undefined;
  const readsAudit = operation.readsAudit === true;
  const admit = (actor: Actor) =>
    context.set('actor', authorize(actor, { level, scope, project, takesBody, readsAudit }));
  const admitAgain = async () => {
    const currentActor = context.get('currentActor');
    if (currentActor !== undefined) admit(await currentActor());
  };
  admit(context.get('actor'));

  // What comes to the thread has waited.
  if (operation.before !== undefined && context.env?.actor === undefined) {
    await operation.before(callOf(context, operation, undefined).query);
    await admitAgain();
  }

  const isForThread = operation.isHeavy && context.env?.thread?.takes(context.req.raw);
  const thread = isForThread ? context.env.thread : undefined;
  using body = await takeBody(context, operation.body, admitAgain);
  if (thread !== undefined) {
    const call = heavyCallOf(context, operation, body?.bytes);
    // From here on the thread counts it.
    body?.[Symbol.dispose]();
    return thread.answer(call, context.get('stillValid')).catch(async (error: unknown) => {
      // The thread knows only that the rights have changed.
      if (error instanceof ServiceError && error.code === 'forbidden') await admitAgain();
      throw error;
    });
  }

  const { wish, ...call } = callOf(context, operation, body?.bytes);
  for (let attempt = 1; ; attempt++) {
    try {
      const run = (actor: Actor) => Promise.resolve(operation.handle({ ...call, actor }));
      const answer = await asWished(context, { operation: operation.id, text: call.text, wish, run });
      return await compressAnswer(context.req.raw, answer);
    } catch (error) {
      if (!(error instanceof RightsChanged) || attempt === ATTEMPTS) throw error;
      await admitAgain();
    }
  }
}

interface WishedCall {
  /** The id of the operation. */
  readonly operation: string;
  readonly text: string;
  readonly wish: Wish | undefined;
  readonly run: (actor: Actor) => Promise<Response>;
}

/** Runs an operation, as a proposal or an emergency if the caller asks for that. */
function asWished(
  context: Context<ManagementEnv>,
  { operation, text, wish, run }: WishedCall,
): Promise<Response> {
  const actor = context.get('actor');
  if (wish === undefined) return run(actor);

  const { raw: request } = context.req;
  const { pathname, searchParams } = new URL(request.url);
  searchParams.delete('propose');
  searchParams.delete('emergency');
  const search = searchParams.size === 0 ? '' : `?${searchParams}`;
  const type = request.headers.get('Content-Type');
  const call: ProposedCall = {
    actor,
    operation,
    method: request.method,
    path: pathname + search,
    ...(type !== null && { type }),
    ...(text !== '' && { body: text }),
    hold: wish === 'hold',
  };

  const desk = context.get('proposals');
  if (wish === 'emergency') return run({ ...actor, approval: desk.emergency(call) });
  return desk.propose(call, run);
}

/** Attempts at a call whose author's rights change while it runs. */
const ATTEMPTS = 3;

/**
 * Waits for a body. A caller who still had to send some of it may have lost rights by the end: they are checked again then. A
 * commit does that by itself; this is for what only reads, and is done before the body is parsed.
 */
async function takeBody<Body>(
  context: Context<ManagementEnv>,
  rule: BodyRule<Body> | undefined,
  admitAgain: () => Promise<void>,
): Promise<IncomingBody | undefined> {
  if (rule === undefined) return undefined;
  const actor = context.get('actor');
  const { maxBytes = DEFAULT_BODY_BYTES } = rule;
  const most = typeof maxBytes === 'number' ? maxBytes : maxBytes(actor);

  const reading = context.get('bodies').read(context.req.raw, most, actor.name);
  const wasHere = await Promise.race([reading.then(() => true), nextTurn(false)]);
  const body = await reading;
  if (wasHere) return body;

  // The work begins now, and has the time that the listener gives to it.
  context.env?.server?.timeout(context.req.raw, WORK_SECONDS);
  try {
    await admitAgain();
    return body;
  } catch (error) {
    body[Symbol.dispose]();
    throw error;
  }
}

/** The call as the thread reads it again. */
function heavyCallOf(
  context: Context<ManagementEnv>,
  { method, body: rule }: AnyOperation,
  body: Uint8Array<ArrayBuffer> | undefined,
): HeavyCall {
  const { raw: request } = context.req;
  const headers: Record<string, string> = {};
  for (const name of ['Accept-Encoding', 'Sec-Fetch-Site', 'Content-Type', 'If-Match', 'If-None-Match']) {
    const value = request.headers.get(name);
    if (value !== null) headers[name] = value;
  }

  return {
    method: method.toUpperCase(),
    url: request.url,
    headers,
    actor: context.get('actor'),
    ...(body && { body }),
    isDocument: rule?.reads === 'text',
  };
}

function callOf<Path extends string, Body, Query>(
  context: Context<ManagementEnv>,
  operation: Operation<Path, Body, Query>,
  body: Uint8Array | undefined,
): Omit<Call<Path, Body, Query>, 'actor'> & { readonly wish: Wish | undefined } {
  const { body: rule, query, needsApproval } = operation;
  const request = context.req.raw;
  const accepted = acceptBody(rule, body === undefined ? '' : decodeBody(body));
  const isRead = request.method === 'GET';
  const parameters = isRead && query === undefined ? {} : readQuery(request);
  const wish = isRead ? undefined : takeWish(parameters);
  if (wish !== undefined && needsApproval !== true)
    throw invalid(
      'This operation needs no approval, so it is neither proposed nor an emergency: call it as it is.',
    );
  return {
    wish,
    // `Params`: the route was created from this path.
    params: context.req.param() as Params<Path>,
    // `Query`: without a schema the type is `undefined`.
    query: (query === undefined ? undefined : accept(query, parameters, 'query')) as Query,
    session: context.get('session'),
    request,
    requestId: context.get('requestId'),
    stillValid: context.get('stillValid'),
    keepOpen: () => context.env?.server?.timeout(request, 0),
    ...accepted,
  };
}

function acceptBody<Body>(
  rule: BodyRule<Body> | undefined,
  text: string,
): { readonly text: string; readonly body: Body } {
  const isChecked = rule !== undefined && rule.reads !== 'text';
  // `Body`: without a rule the type is `undefined`, as it is where the handler reads the text itself.
  return { text, body: (isChecked ? accept(rule.schema, parseBody(text), 'body') : undefined) as Body };
}

function readQuery(request: Request): Record<string, string> {
  const parameters = new URL(request.url).searchParams;
  const seen = new Set<string>();
  for (const name of parameters.keys()) {
    if (seen.has(name)) {
      throw invalid(`The query parameter ${quote(name)} appears more than once: send it once.`);
    }
    seen.add(name);
  }
  return Object.fromEntries(parameters);
}

/** An operation that requires no authentication. */
export interface PublicOperation<Body>
  extends Pick<
    Operation<string, Body, undefined>,
    'method' | 'path' | 'id' | 'summary' | 'answer' | 'errors'
  > {
  readonly body?: BodyRule<Body> & { readonly maxBytes?: number };
  readonly handle: (call: PublicCall<Body>) => Response | Promise<Response>;
}

/** One call of a public operation. */
export interface PublicCall<Body> {
  readonly body: Body;
  readonly caller: Caller;
  readonly request: Request;
  readonly requestId: string;
  /** Lets the answer take this many seconds. */
  readonly allow: (seconds: number) => void;
}

async function answerAnyone<Body>(
  context: Context<ManagementEnv>,
  { body: rule, handle }: PublicOperation<Body>,
): Promise<Response> {
  const request = context.req.raw;
  const text = rule === undefined ? '' : await readBody(request, rule.maxBytes ?? DEFAULT_BODY_BYTES);
  const { body } = acceptBody(rule, text);
  return handle({
    body,
    caller: context.get('caller'),
    request,
    requestId: context.get('requestId'),
    allow: (seconds) => context.env?.server?.timeout(request, seconds),
  });
}
