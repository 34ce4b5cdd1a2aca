import { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import type { Server } from 'bun';
import type { Actor } from '../../domain/audit.ts';
import type { ActiveSession } from '../../nouns/people/operator.ts';
import type { Caller } from '../context.ts';
import type { HeavyThread } from './heavy-call.ts';
import { IncomingBodies } from './incoming-bodies.ts';
import type { ProposalDesk } from './proposal-desk.ts';

/** A request to the management API. */
export interface ManagementRequest {
  readonly raw: Request;
  readonly requestId: string;
  /** The parameters of its path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The listener, which knows the caller's address; absent where requests come from no socket. */
  readonly server?: Server<undefined> | undefined;
}

/** Who sent a request, by its credentials. */
export interface Author {
  readonly actor: Actor;
  /** The actor's session; absent for an access token. */
  readonly session?: ActiveSession | undefined;
  /** The actor with the rights of now. Rejects once the credentials have ended. Absent in the thread. */
  readonly currentActor?: () => Promise<Actor>;
  /** Whether the credentials are still valid and give the same rights; checked repeatedly while a stream is open. */
  readonly stillValid: () => Promise<boolean>;
}

/** Answers the requests of one method and path, given the author or, where anyone may call it, the caller. */
type Answer<By> = (request: ManagementRequest, by: By) => Response | Promise<Response>;

/** A route. */
export type Route = {
  /** In upper case. */
  readonly method: string;
  /** In OpenAPI syntax, with `{name}` for parameters. */
  readonly path: string;
} & ({ readonly answer: Answer<Author> } | { readonly answerAnyone: Answer<Caller> });

/** A route that a request matches, with the parameters of its path. */
export interface FoundRoute {
  readonly route: Route;
  readonly params: ManagementRequest['params'];
}

/** What paths with the same beginning can go on with. */
interface Branch {
  readonly next: Map<string, Branch>;
  any?: Branch;
  /** The routes that end here, by method. */
  readonly routes: Map<string, Route>;
}

/** The operations of the management API: their routes, their descriptions, and what all of them share. */
export class ManagementApp {
  readonly openAPIRegistry = new OpenAPIRegistry();
  readonly routes: Route[] = [];
  /** Reads the bodies of all requests. */
  readonly bodies = new IncomingBodies();
  readonly proposals: ProposalDesk;
  /** Answers heavy operations; absent where none runs, and in the thread itself. */
  readonly thread: HeavyThread | undefined;
  readonly #root: Branch = newBranch();

  constructor({
    proposals,
    thread,
  }: { readonly proposals: ProposalDesk; readonly thread?: HeavyThread | undefined }) {
    this.proposals = proposals;
    this.thread = thread;
  }

  /** Adds a route. */
  add(route: Route): void {
    this.routes.push(route);
    let branch = this.#root;
    for (const segment of route.path.split('/')) branch = follow(branch, segment);
    branch.routes.set(route.method, route);
  }

  /** The route of a request. Names win over parameters: `flags/archive` is not the flag `archive`. */
  find(method: string, path: string): FoundRoute | undefined {
    const segments = path.split('/');
    // A GET route also answers HEAD.
    const wanted = method === 'HEAD' ? 'GET' : method;
    for (const { routes } of endsOf(this.#root, segments)) {
      const route = routes.get(wanted);
      if (route !== undefined) return { route, params: paramsIn(route.path, segments) };
    }
    return undefined;
  }

  /** The methods of a path; empty for an unknown path. */
  methodsOf(path: string): readonly string[] {
    const methods = new Set(endsOf(this.#root, path.split('/')).flatMap(({ routes }) => [...routes.keys()]));
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  }
}

function newBranch(): Branch {
  return { next: new Map(), routes: new Map() };
}

function follow(branch: Branch, segment: string): Branch {
  if (isParameter(segment)) {
    branch.any ??= newBranch();
    return branch.any;
  }
  const known = branch.next.get(segment) ?? newBranch();
  branch.next.set(segment, known);
  return known;
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

/** Where a path can end, from the segment `at` on. */
function endsOf(branch: Branch, segments: readonly string[], at = 0): readonly Branch[] {
  const segment = segments[at];
  if (segment === undefined) return [branch];
  const named = branch.next.get(segment);
  const ends = named === undefined ? [] : endsOf(named, segments, at + 1);
  if (branch.any === undefined || segment === '') return ends;

  const others = endsOf(branch.any, segments, at + 1);
  return ends.length === 0 ? others : [...ends, ...others];
}

function paramsIn(path: string, segments: readonly string[]): ManagementRequest['params'] {
  const params: Record<string, string> = {};
  for (const [index, segment] of path.split('/').entries())
    if (isParameter(segment)) params[segment.slice(1, -1)] = decode(segments[index] ?? '');
  return params;
}

/** A segment that cannot be decoded stays as it is. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
