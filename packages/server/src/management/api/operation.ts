import type { ErrorCode, Role } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, RightsChanged, ServiceError } from '../../domain/errors.ts';
import { decodeBody, pathOf, readBody } from '../../http/request.ts';
import type { Caller } from '../context.ts';
import { authorize, type Requirement, type Scope } from '../rights.ts';
import { accept, parseBody } from './body.ts';
import { compressAnswer } from './compressed-answer.ts';
import { describeOperation } from './described-operation.ts';
import type { HeavyCall } from './heavy-call.ts';
import type { IncomingBody } from './incoming-bodies.ts';
import type { Author, ManagementApp, ManagementRequest } from './management-app.ts';
import { type ProposedCall, takeWish, type Wish } from './proposal-desk.ts';
import type { z } from './zod.ts';

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
  readonly session: Author['session'];
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

      const required: Requirement = {
        level: operation.setsStates ? 'states' : operation.role,
        scope,
        takesBody: operation.body !== undefined,
        readsAudit: operation.readsAudit === true,
      };
      app.add({
        method: operation.method.toUpperCase(),
        path: operation.path,
        answer: (request, author) => answerCall(app, operation, required, { request, author }),
      });
    },

    /** Mounts an operation that anyone may call. */
    mountPublic<Body = undefined>(operation: PublicOperation<Body>): void {
      app.openAPIRegistry.registerPath(
        describeOperation({ ...operation, tag, role: 'anyone', scope: 'self' }),
      );
      app.add({
        method: operation.method.toUpperCase(),
        path: operation.path,
        answerAnyone: (request, caller) => answerAnyone(operation, request, caller),
      });
    },
  };
}

/** A request with its author. */
interface Authored {
  readonly request: ManagementRequest;
  readonly author: Author;
}

/** Answers a call: on the thread for heavy operations, if there is one. */
async function answerCall<Path extends string, Body, Query>(
  app: ManagementApp,
  operation: Operation<Path, Body, Query>,
  required: Requirement,
  { request, author }: Authored,
): Promise<Response> {
  const { raw, params } = request;
  const admit = (actor: Actor) => authorize(actor, { ...required, project: params.project });
  let actor = admit(author.actor);
  const admitAgain = async () => {
    if (author.currentActor !== undefined) actor = admit(await author.currentActor());
  };

  // What comes to the thread has waited.
  if (operation.before !== undefined && author.currentActor !== undefined) {
    await operation.before(callOf(operation, { request, author }, '').query);
    await admitAgain();
  }

  const thread = operation.isHeavy && app.thread?.takes(raw) ? app.thread : undefined;
  using body = operation.body && (await takeBody(app, operation.body, { request, actor }));
  // A caller who still had to send some of it may have lost rights by the end. A commit checks that by itself; this is for what
  // only reads, and is done before the body is parsed.
  if (body?.wasHere === false) await admitAgain();
  if (thread !== undefined) {
    const call = heavyCallOf(operation, { raw, actor }, body?.bytes);
    // From here on the thread counts it.
    body?.[Symbol.dispose]();
    return thread.answer(call, author.stillValid).catch(async (error: unknown) => {
      // The thread knows only that the rights have changed.
      if (error instanceof ServiceError && error.code === 'forbidden') await admitAgain();
      throw error;
    });
  }

  const { wish, ...call } = callOf(operation, { request, author }, body && decodeBody(body.bytes));
  for (let attempt = 1; ; attempt++) {
    try {
      const run = async (by: Actor) => operation.handle({ ...call, actor: by });
      const answer =
        wish === undefined
          ? await run(actor)
          : await asWished(app, { operation: operation.id, text: call.text, raw, actor, wish, run });
      return compressAnswer(raw, answer);
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
  readonly raw: Request;
  readonly actor: Actor;
  readonly wish: Wish;
  readonly run: (actor: Actor) => Promise<Response>;
}

/** Runs an operation as a proposal or an emergency. */
function asWished(
  { proposals }: ManagementApp,
  { operation, text, raw, actor, wish, run }: WishedCall,
): Promise<Response> {
  const { searchParams } = new URL(raw.url);
  searchParams.delete('propose');
  searchParams.delete('emergency');
  const search = searchParams.size === 0 ? '' : `?${searchParams}`;
  const type = raw.headers.get('Content-Type');
  const call: ProposedCall = {
    actor,
    operation,
    method: raw.method,
    path: pathOf(raw) + search,
    ...(type !== null && { type }),
    ...(text !== '' && { body: text }),
    hold: wish === 'hold',
  };

  if (wish === 'emergency') return run({ ...actor, approval: proposals.emergency(call) });
  return proposals.propose(call, run);
}

/** Attempts at a call whose author's rights change while it runs. */
const ATTEMPTS = 3;

/** Waits for a body. */
async function takeBody<Body>(
  { bodies }: ManagementApp,
  { maxBytes = DEFAULT_BODY_BYTES }: BodyRule<Body>,
  { request: { raw, server }, actor }: { readonly request: ManagementRequest; readonly actor: Actor },
): Promise<IncomingBody> {
  const most = typeof maxBytes === 'number' ? maxBytes : maxBytes(actor);
  const body = await bodies.read(raw, most, actor.name);
  // The work begins now, and has the time that the listener gives to it.
  if (!body.wasHere) server?.timeout(raw, WORK_SECONDS);
  return body;
}

/** The call as the thread reads it again. */
function heavyCallOf(
  { method, body: rule }: AnyOperation,
  { raw, actor }: { readonly raw: Request; readonly actor: Actor },
  body: Uint8Array<ArrayBuffer> | undefined,
): HeavyCall {
  const headers: Record<string, string> = {};
  for (const name of ['Accept-Encoding', 'Sec-Fetch-Site', 'Content-Type', 'If-Match', 'If-None-Match']) {
    const value = raw.headers.get(name);
    if (value !== null) headers[name] = value;
  }

  return {
    method: method.toUpperCase(),
    url: raw.url,
    headers,
    actor,
    ...(body && { body }),
    isDocument: rule?.reads === 'text',
  };
}

function callOf<Path extends string, Body, Query>(
  { body: rule, query, needsApproval }: Operation<Path, Body, Query>,
  { request: { raw, requestId, params, server }, author: { session, stillValid } }: Authored,
  text = '',
): Omit<Call<Path, Body, Query>, 'actor'> & { readonly wish: Wish | undefined } {
  const body = acceptBody(rule, text);
  const isRead = raw.method === 'GET';
  const parameters = isRead && query === undefined ? {} : readQuery(raw);
  const wish = isRead ? undefined : takeWish(parameters);
  if (wish !== undefined && needsApproval !== true)
    throw invalid(
      'This operation needs no approval, so it is neither proposed nor an emergency: call it as it is.',
    );
  return {
    wish,
    // `Params`: the route was created from this path.
    params: params as Params<Path>,
    // `Query`: without a schema the type is `undefined`.
    query: (query === undefined ? undefined : accept(query, parameters, 'query')) as Query,
    body,
    text,
    session,
    request: raw,
    requestId,
    stillValid,
    keepOpen: () => server?.timeout(raw, 0),
  };
}

function acceptBody<Body>(rule: BodyRule<Body> | undefined, text: string): Body {
  const isChecked = rule !== undefined && rule.reads !== 'text';
  // `Body`: without a rule the type is `undefined`, as it is where the handler reads the text itself.
  return (isChecked ? accept(rule.schema, parseBody(text), 'body') : undefined) as Body;
}

function readQuery({ url }: Request): Record<string, string> {
  if (!url.includes('?')) return {};
  const parameters = new URL(url).searchParams;
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
  { body: rule, handle }: PublicOperation<Body>,
  { raw, requestId, server }: ManagementRequest,
  caller: Caller,
): Promise<Response> {
  const text = rule === undefined ? '' : await readBody(raw, rule.maxBytes ?? DEFAULT_BODY_BYTES);
  return handle({
    body: acceptBody(rule, text),
    caller,
    request: raw,
    requestId,
    allow: (seconds) => server?.timeout(raw, seconds),
  });
}
