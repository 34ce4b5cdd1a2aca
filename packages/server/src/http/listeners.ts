import type { Server } from 'bun';
import type { Logger } from 'pino';
import { errorResponse, hostInvalid, notFound, pathNotLiteral, refuseMethod } from './errors.ts';
import { acceptForwarded, type InnerAddress } from './forwarding.ts';
import { type Answer, Listener, type ListenerAnswers, type RouteAnswer, type Routes } from './listener.ts';
import { ANY_PATH, isLiteral } from './literal-paths.ts';
import type { OpenFiles } from './open-files.ts';
import { RefusalBursts } from './pipelines.ts';
import { namesOneHost, pathOf, requestIdOf } from './request.ts';

/** Answers what is not a route; `undefined` leaves the request to the next one. */
export type Fallback = (
  request: Request,
  server: Server<undefined>,
) => Response | undefined | Promise<Response | undefined>;

/** The parts that the listeners of a node serve. A read-only node has no management plane. */
export interface ListenerParts {
  /** The routes of the evaluation interface. */
  readonly evaluation: Routes;
  /** `/healthz` and `/readyz`. */
  readonly health: Routes;
  /** Says when connections should end with their answers. Default: never. */
  readonly files?: Pick<OpenFiles, 'isShort'>;
  /** The metrics. */
  readonly scrape: RouteAnswer;
  readonly docs: Fallback;
  /** The management interface and the dashboard. */
  readonly management?: readonly Fallback[];
  /** Base of the documentation links, without a trailing slash. */
  readonly docsUrl: string;
  readonly log: Logger;
  /** Routes of the inner listener that other processes ask for themselves; each checks who asks. */
  readonly inner?: Routes;
}

/** Where a node listens: on one address, or with an address of its own for people and monitoring. */
export interface ListenersOptions {
  readonly host: string;
  /** 0 takes a free port; so does 0 for `managementPort`. */
  readonly port: number;
  readonly reusePort: boolean;
  /** Default: everything on one. */
  readonly managementPort?: number;
  /** Default: `host`. */
  readonly managementHost?: string;
  /** Where the requests for `port` come from, if other processes listen on it and pass them on. */
  readonly inner?: InnerAddress;
}

/** The listeners of a node. Their addresses are checked at once, and open from {@link serve} on. */
export class Listeners {
  /** Where this machine reaches the evaluation interface. */
  readonly url: string;
  /** The port of the evaluation interface. */
  readonly port: number;
  /** Where it reaches management, if that has its own address. */
  readonly managementUrl?: string;
  readonly #main: Listener;
  readonly #second: Listener | undefined;
  readonly #inner: InnerAddress | undefined;
  readonly #served = new Map<Listener, Served>();
  readonly #bursts = new RefusalBursts();

  /** Throws a {@link ListenError} when an address is not available; then none is open. */
  constructor({ host, port, reusePort, managementPort, managementHost = host, inner }: ListenersOptions) {
    this.#inner = inner;
    this.#main = new Listener(
      inner ? { unix: inner.socket } : { host, port, reusePort, isManagement: false },
    );
    this.port = inner ? port : this.#main.port;
    this.url = addressOf(host, this.port);
    if (managementPort === undefined) return;
    try {
      const place = { host: managementHost, port: managementPort, reusePort, isManagement: true };
      this.#second = new Listener(place);
    } catch (error) {
      void this.#main.close();
      throw error;
    }
    this.managementUrl = addressOf(managementHost, this.#second.port);
  }

  /**
   * Opens the listeners, and serves everything from now on: on one, or each part where it belongs. Throws a
   * {@link ListenError} when another program has taken an address.
   */
  serve(parts: ListenerParts): void {
    const { evaluation, scrape, docs, management = [] } = parts;
    const metrics = { '/metrics': readOnly(parts, scrape) };
    if (this.#second === undefined) {
      this.#serveOn(this.#main, parts, { ...evaluation, ...metrics }, [docs, ...management]);
      return;
    }
    // Programs that read flags need no more than this; people and monitoring have the rest.
    this.#serveOn(this.#main, parts, evaluation, [docs]);
    this.#serveOn(this.#second, parts, metrics, [docs, ...management]);
  }

  /** Ends each connection with its next answer, until clients have left or the time is over. */
  async drain(windowMs: number): Promise<void> {
    const draining = new DrainingResponses();
    for (const [listener, { routes, health, fetch }] of this.#served) {
      listener.answer({
        // A load balancer that checks the node's health does not keep it from stopping.
        routes: { ...mapAnswers(routes, draining.ending), ...health },
        fetch: draining.ending(fetch),
      });
    }
    await draining.untilQuiet(windowMs);
  }

  /** Accepts no more connections, lets the running requests finish, then ends what is left. */
  async close(): Promise<void> {
    await Promise.all([this.#main.close(), this.#second?.close()]);
  }

  #serveOn(listener: Listener, parts: ListenerParts, routes: Routes, fallbacks: readonly Fallback[]): void {
    const accept = this.#acceptOn(listener);
    const guards = { bursts: this.#bursts, files: parts.files };
    const keyed = <R extends Request>(answer: Answer<R>) => guarded(answer, { ...guards, counts: isRefusal });
    // Needs no key, whatever it is.
    const open = <R extends Request>(answer: Answer<R>) => guarded(answer, { ...guards, counts: () => true });

    const own = listener === this.#main ? parts.inner : undefined;
    const known = { ...mapAnswers(routes, accept), ...own };
    const others = accept(answerFallbacks(parts, fallbacks));

    const served = {
      // The router prefers the routes that have a path of their own.
      routes: { ...fromPaths(ANY_PATH, others), ...known },
      health: mapAnswers(parts.health, (answer) => open(accept(readOnly(parts, answer)))),
      fetch: accept(refuseOthers(parts)),
    };

    listener.answer({
      routes: { ...fromPaths(ANY_PATH, open(others)), ...mapAnswers(known, keyed), ...served.health },
      fetch: keyed(served.fetch),
    });
    this.#served.set(listener, served);
  }

  /** What a request passes before its answer: on an inner listener the check that another process passed it on. */
  #acceptOn(listener: Listener): <R extends Request>(answer: Answer<R>) => Answer<R> {
    const inner = listener === this.#main ? this.#inner : undefined;
    return inner === undefined ? (answer) => answer : (answer) => acceptForwarded(inner, answer);
  }
}

/** The parts that one listener serves. */
interface Served extends ListenerAnswers {
  readonly health: Routes;
}

/** How long a draining node must have no requests before it counts as abandoned, in milliseconds. */
const QUIET_MS = 100;

/** How often that is checked, in milliseconds. */
const CHECK_MS = 20;

/**
 * The answers of a node that is about to stop. Each ends its connection, so that a client connects elsewhere instead of
 * sending its next request into a connection that is being closed, where it would be lost.
 */
class DrainingResponses {
  #lastAt = performance.now();

  /** The same answers, after which the connection is closed. */
  readonly ending = <R extends Request>(answer: Answer<R>) => {
    return async (request: R, server: Server<undefined>): Promise<Response> => {
      this.#lastAt = performance.now();
      return withClose(await answer(request, server));
    };
  };

  /** Resolves after a tenth of a second without a request, at the latest after `windowMs`. */
  async untilQuiet(windowMs: number): Promise<void> {
    const until = performance.now() + windowMs;
    this.#lastAt = performance.now();
    for (;;) {
      const now = performance.now();
      if (now >= until || now - this.#lastAt >= QUIET_MS) return;
      await Bun.sleep(Math.min(CHECK_MS, until - now));
    }
  }
}

function mapAnswers(routes: Routes, wrap: (answer: RouteAnswer) => RouteAnswer): Routes {
  return Object.fromEntries(Object.entries(routes).map(([path, answer]) => [path, wrap(answer)]));
}

/** What may end a connection with its answer. */
interface Guards {
  readonly bursts: RefusalBursts;
  readonly files: ListenerParts['files'];
  /** Whether the answer counts for a burst. */
  readonly counts: (response: Response) => boolean;
}

/**
 * Ends the connection after the answer in a burst, while files are short, and to a chunked body. Bun answers trailer fields with a second
 * answer, a 400, which a proxy would give to its next caller (docs/decisions/0014-http-parser.md).
 */
function guarded<R extends Request>(answer: Answer<R>, { bursts, files, counts }: Guards): Answer<R> {
  return (request, server) => {
    const finish = (response: Response) => {
      const isOver = files?.isShort === true || request.headers.has('Transfer-Encoding');
      return isOver || (counts(response) && bursts.count()) ? withClose(response) : response;
    };
    const response = answer(request, server);
    // Bun closes a connection that sends a request before it has the answer of a promise, unless that is settled at once. (S14.14)
    return response instanceof Promise ? response.then(finish) : finish(response);
  };
}

function isRefusal({ status }: Response): boolean {
  return status >= 400;
}

function withClose(response: Response): Response {
  response.headers.set('Connection', 'close');
  return response;
}

/** Answers GET and HEAD, and refuses every other method. Load balancers may ask without a host, in HTTP/1.0. */
function readOnly({ docsUrl, log }: ListenerParts, answer: RouteAnswer): RouteAnswer {
  return (request, server) => {
    const context = () => ({ docsUrl, log, requestId: requestIdOf(request) });
    if (request.headers.has('Host') && !namesOneHost(request)) return errorResponse(hostInvalid(), context());

    if (request.method === 'GET' || request.method === 'HEAD') return answer(request, server);
    return refuseMethod(request.method, ['GET', 'HEAD'], context());
  };
}

function fromPaths(paths: readonly string[], answer: RouteAnswer): Routes {
  return Object.fromEntries(paths.map((path) => [path, answer]));
}

/** Answers what has no route of its own: nothing sees a path that was not sent as it reads. (Spec: S10.7) */
function answerFallbacks({ docsUrl, log }: ListenerParts, fallbacks: readonly Fallback[]): RouteAnswer {
  return async (request, server) => {
    try {
      if (!namesOneHost(request)) throw hostInvalid();
      if (!isLiteral(request)) throw pathNotLiteral();
      for (const fallback of fallbacks) {
        const answer = await fallback(request, server);
        if (answer !== undefined) return answer;
      }
      throw notFound(pathOf(request));
    } catch (error) {
      return errorResponse(error, { docsUrl, log, requestId: requestIdOf(request) });
    }
  };
}

/** Refuses what not even {@link ANY_PATH} matches: paths with an empty segment, and very long ones. */
function refuseOthers({ docsUrl, log }: ListenerParts): Answer<Request> {
  return (request) => {
    const refusal = namesOneHost(request) ? pathNotLiteral() : hostInvalid();
    return errorResponse(refusal, { docsUrl, log, requestId: requestIdOf(request) });
  };
}

/** Where this machine reaches a listener. A wildcard address cannot be linked to. */
function addressOf(host: string, port: number): string {
  const reachable = ['0.0.0.0', '::', '[::]'].includes(host) ? 'localhost' : host;
  const name = reachable.includes(':') && !reachable.startsWith('[') ? `[${reachable}]` : reachable;
  return `http://${name}:${port}`;
}
