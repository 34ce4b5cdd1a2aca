import type { ErrorCode } from '@halyard/protocol';
import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Actor } from '../../domain/audit.ts';
import type { Role } from '../../domain/people.ts';
import { invalid, quote } from '../../domain/strict-members.ts';
import { readBody } from '../../http/body.ts';
import type { ActiveSession } from '../people/sessions.ts';
import { requireRole } from '../permissions.ts';
import { accept, parseBody } from './body.ts';
import { describeOperation } from './describe-operation.ts';
import type { ManagementApp, ManagementEnv } from './environment.ts';

/** Largest body of an operation that does not say otherwise, in bytes. */
export const DEFAULT_BODY_BYTES = 1024 * 1024;

/** What an operation's body must be. */
export interface BodyRule<Body> {
  readonly schema: z.ZodType<Body>;
  /** Default {@link DEFAULT_BODY_BYTES}. */
  readonly maxBytes?: number;
  /** `text`: the handler reads the text on its own, and the schema only describes it. Default `json`. */
  readonly reads?: 'json' | 'text';
  /** Media types in the description. Default JSON alone. The type a caller states is not insisted on. */
  readonly mediaTypes?: readonly string[];
}

/** One operation of the management interface: how it is called, and all that its description says. */
export interface Operation<Path extends string, Body, Query> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As OpenAPI writes it, with `{name}` for parameters. */
  readonly path: Path;
  readonly id: string;
  readonly tag: string;
  /** The least role that may call it. Reads: `viewer`; flags and states: `editor`; everything else: `admin`. */
  readonly role: Role;
  readonly summary: string;
  readonly query?: z.ZodType<Query>;
  readonly body?: BodyRule<Body>;
  /** Conditional headers that it obeys. */
  readonly conditions?: readonly ('If-Match' | 'If-None-Match')[];
  /** Whether it obeys `X-Confirm-Environment` although it never answers `confirmation_required` as a whole. */
  readonly confirms?: true;
  readonly answer: OperationAnswer;
  /** Beyond those that every operation has. */
  readonly errors?: readonly ErrorCode[];
}

/** The successful answer of an {@link Operation}. */
export interface OperationAnswer {
  readonly status: 200 | 201 | 204;
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Default JSON alone. */
  readonly mediaTypes?: readonly string[];
  /** What the `ETag` header names, where there is one. */
  readonly tagOf?: string;
}

/** One call of an operation, as far as it could be checked without knowing what is stored. */
export interface Call<Path extends string, Body, Query> {
  readonly params: Params<Path>;
  readonly query: Query;
  readonly body: Body;
  /** The raw body; empty where there is none. */
  readonly text: string;
  readonly actor: Actor;
  /** The actor's session; absent for access tokens. */
  readonly session: ActiveSession | undefined;
  readonly request: Request;
  readonly requestId: string;
  /** Whether what the request was let in with is still good; for answers that go on for long. */
  readonly stillValid: () => Promise<boolean>;
  /** Lifts the listener's limit on silence for an answer that goes on for long. */
  readonly keepOpen: () => void;
}

/** The parameters in a path. */
export type Params<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & Params<Rest>
  : unknown;

/** Mounts an operation: its route and its description. The caller's role is checked before anything is read. */
export function mount<Path extends string, Body = undefined, Query = undefined>(
  app: ManagementApp,
  operation: Operation<Path, Body, Query>,
  handle: (call: Call<Path, Body, Query>) => Response | Promise<Response>,
): void {
  app.openAPIRegistry.registerPath(describeOperation(operation));
  const route = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
  app.on(operation.method, route, async (context) => {
    requireRole(context.get('actor'), operation.role);
    return handle(await readCall(context, operation));
  });
}

async function readCall<Path extends string, Body, Query>(
  context: Context<ManagementEnv>,
  operation: Operation<Path, Body, Query>,
): Promise<Call<Path, Body, Query>> {
  const { body: rule, query } = operation;
  const request = context.req.raw;
  const text = rule === undefined ? '' : await readBody(request, rule.maxBytes ?? DEFAULT_BODY_BYTES);
  const body =
    rule === undefined || rule.reads === 'text' ? undefined : accept(rule.schema, parseBody(text), 'body');
  return {
    // `Params`: the route was made from this very path.
    params: context.req.param() as Params<Path>,
    // `Query`, `Body`: without a schema these types are `undefined`, or the handler reads the text itself.
    query: (query === undefined ? undefined : accept(query, readQuery(request), 'query')) as Query,
    body: body as Body,
    text,
    actor: context.get('actor'),
    session: context.get('session'),
    request,
    requestId: context.get('requestId'),
    stillValid: context.get('stillValid'),
    keepOpen: () => context.env?.server?.timeout(request, 0),
  };
}

function readQuery(request: Request): Record<string, string> {
  const parameters = new URL(request.url).searchParams;
  const seen = new Set<string>();
  for (const name of parameters.keys()) {
    if (seen.has(name)) {
      throw invalid(`The query parameter ${quote(name)} is given more than once: give it once.`);
    }
    seen.add(name);
  }
  return Object.fromEntries(parameters);
}
