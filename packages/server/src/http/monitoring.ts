import type { Readiness } from '../domain/read-side.ts';
import { isSameSecret } from '../domain/secret.ts';
import { COMMIT, VERSION } from '../version.ts';
import type { RouteAnswer, Routes } from './listener.ts';
import { queryOf } from './request.ts';

/** What `/readyz` says besides how current a node is. */
export interface ReadinessFacts {
  /**
   * Sentences about what makes the node no less ready for reads and streams, such as a database that refuses writes;
   * `undefined` where there is nothing to say.
   */
  readonly warnings?: () => readonly (string | undefined)[];
  /** The address of the node that a relay follows; `undefined` while it follows none. */
  readonly upstream?: () => string | undefined;
}

/** `/healthz` and `/readyz` of a node. */
export function healthRoutes(
  node: Readiness,
  { warnings = () => [], upstream = () => undefined }: ReadinessFacts = {},
): Routes {
  const facts = () => {
    const warning = warnings()
      .filter((each) => each !== undefined)
      .join(' ');
    // JSON leaves out members that are undefined.
    return { warning: warning === '' ? undefined : warning, upstream: upstream() };
  };
  return { '/healthz': healthAnswer, '/readyz': (request) => readinessAnswer(node, request, facts()) };
}

/**
 * The same of a process that passes requests on to another one, which knows it of all of them. `own`: how current this
 * process is, for when the other one does not answer.
 */
export function forwardedHealthRoutes(forward: RouteAnswer, own: Readiness): Routes {
  const readiness: RouteAnswer = async (request, server) => {
    const answer = await forward(request, server);
    if (answer.status !== 500) return answer;
    return isAboutReads(request) ? readsAnswer(own) : notReadyAnswer(own);
  };
  return { '/healthz': forward, '/readyz': readiness };
}

/** Whether the process works at all. Never asks the database, so that losing it restarts no node. */
function healthAnswer(): Response {
  // JSON leaves out a commit that is unknown.
  return statusAnswer(200, { status: 'ok', version: VERSION, commit: COMMIT });
}

/**
 * Whether this node should get traffic: its catalog is complete and current, it will see every change, and it is not
 * shutting down. It turns unready again when any of that ends.
 */
function readinessAnswer(node: Readiness, request: Request, facts: object): Response {
  if (isAboutReads(request)) return readsAnswer(node);
  return node.canStream() ? statusAnswer(200, { status: 'ready', ...facts }) : notReadyAnswer(node);
}

/**
 * `?for=reads` asks whether this node should get reads, for load balancers that leave no node in when none is ready.
 * (Spec: S14.13)
 */
function isAboutReads(request: Request): boolean {
  return queryOf(request).get('for') === 'reads';
}

/** Reads survive the loss of the database, so a node takes them while it is not current, and says so. */
function readsAnswer(node: Readiness): Response {
  if (!node.takesReads()) return notReadyAnswer(node);
  // JSON leaves out members that are undefined.
  return statusAnswer(200, {
    status: 'ready for reads',
    reason: node.trouble(),
    staleSeconds: node.staleSeconds(),
  });
}

function notReadyAnswer(node: Readiness): Response {
  return statusAnswer(503, {
    status: 'not ready',
    canRead: node.canRead(),
    reason: node.trouble(),
    staleSeconds: node.staleSeconds(),
  });
}

function statusAnswer(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'Cache-Control': 'no-store' } });
}

/** Answers requests for the metrics; where a token is set, only those that send it as a bearer token. */
export function guardMetrics(
  token: string | undefined,
  scrape: () => Promise<Response>,
): (request: Request) => Response | Promise<Response> {
  return (request) => {
    const sent = request.headers.get('Authorization') ?? '';
    if (token === undefined || isSameSecret(sent, `Bearer ${token}`)) return scrape();
    return new Response('The metrics need a token. Send it as a bearer token.\n', { status: 401 });
  };
}
