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
  readonly ends: Map<string, Ending>;
}

/** A route, with the names of its parameters and the segments that have them. */
interface Ending {
  readonly route: Route;
  readonly parameters: readonly (readonly [name: string, index: number])[];
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
    const parameters: [string, number][] = [];
    for (const [index, segment] of route.path.split('/').entries()) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (name !== undefined) parameters.push([name, index]);
      branch = name === undefined ? named(branch, segment) : parameterOf(branch);
    }
    branch.ends.set(route.method, { route, parameters });
  }

  /** The route of a request. Names win over parameters: `flags/archive` is not the flag `archive`. */
  find(method: string, path: string): FoundRoute | undefined {
    const segments = path.split('/');
    // A GET route also answers HEAD.
    const wanted = method === 'HEAD' ? 'GET' : method;
    const branch = branchesOf(this.#root, segments).find(({ ends }) => ends.has(wanted));
    const end = branch?.ends.get(wanted);
    return end && { route: end.route, params: paramsIn(end, segments) };
  }

  /** The methods of a path; empty for an unknown path. */
  methodsOf(path: string): readonly string[] {
    const branches = branchesOf(this.#root, path.split('/'));
    const methods = new Set(branches.flatMap(({ ends }) => [...ends.keys()]));
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  }
}

function newBranch(): Branch {
  return { next: new Map(), ends: new Map() };
}

function named(branch: Branch, segment: string): Branch {
  const known = branch.next.get(segment) ?? newBranch();
  branch.next.set(segment, known);
  return known;
}

function parameterOf(branch: Branch): Branch {
  branch.any ??= newBranch();
  return branch.any;
}

/** The branches to which these segments lead, from the segment `at` on: most often one. */
function branchesOf(branch: Branch, segments: readonly string[], at = 0): readonly Branch[] {
  const segment = segments[at];
  if (segment === undefined) return [branch];
  const next = branch.next.get(segment);
  const any = segment === '' ? undefined : branch.any;

  if (next === undefined) return any === undefined ? [] : branchesOf(any, segments, at + 1);
  if (any === undefined) return branchesOf(next, segments, at + 1);
  return [...branchesOf(next, segments, at + 1), ...branchesOf(any, segments, at + 1)];
}

function paramsIn({ parameters }: Ending, segments: readonly string[]): ManagementRequest['params'] {
  const params: Record<string, string> = {};
  for (const [name, index] of parameters) params[name] = decode(segments[index] ?? '');
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
