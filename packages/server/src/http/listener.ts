import { setTimeout as sleep } from 'node:timers/promises';
import type { BunRequest, Server } from 'bun';
import { IDLE_SECONDS } from './request.ts';

/**
 * No limit of the parser's own, whose 413 has no JSON body. Each route counts and refuses for itself, and a body that
 * is not read stays in the socket, so it takes no memory.
 */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER;

/**
 * Seconds without a byte between two processes of a node, at most what Bun takes: the one that passes requests on ends those of
 * silent clients. It reads ahead of a slow one, and what waits there may take minutes.
 */
const INNER_IDLE_SECONDS = 240;

/** Longest a request may take to finish once the node stops, in milliseconds. */
const FINISH_MS = 2000;

/** Answers a request. */
export type Answer<R extends Request> = (
  request: R,
  server: Server<undefined>,
) => Response | Promise<Response>;

/** Answers one route. */
export type RouteAnswer = Answer<BunRequest>;

/** Answers by path, as `Bun.serve` takes them. */
export type Routes = Record<string, RouteAnswer>;

/** What a listener answers with. */
export interface ListenerAnswers {
  readonly routes: Routes;
  /** Answers what is not a route. */
  readonly fetch: Answer<Request>;
}

/** An address of the network to listen on. */
export interface NetworkPlace {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly reusePort: boolean;
  /** Whether it is the one that management has of its own. */
  readonly isManagement: boolean;
}

/** Before there is anything to serve. */
const NOTHING: ListenerAnswers = {
  routes: {},
  fetch: () => new Response(null, { status: 500, headers: { 'Retry-After': '1' } }),
};

/**
 * One address, which is opened with the first answers: until then connections are refused, so that a proxy goes elsewhere.
 * That it is available is checked at once, unless processes share it: then nothing would be noticed. A port that the
 * system chooses and a Unix socket are open from the beginning, because only this node knows them yet.
 */
export class Listener {
  /** The port, also where the system has chosen it; 0 on a Unix socket. */
  readonly port: number;
  readonly #place: NetworkPlace | { readonly unix: string };
  #server: Server<undefined> | undefined;

  /** Throws a {@link ListenError} when the address is not available. */
  constructor(place: NetworkPlace | { readonly unix: string }) {
    this.#place = place;
    if ('unix' in place || place.port === 0) this.#server = listen(place, NOTHING);
    else if (!place.reusePort) void listen(place, NOTHING).stop(true);
    this.port = this.#server?.port ?? ('unix' in place ? 0 : place.port);
  }

  /** Answers with these from now on. Throws a {@link ListenError} when another program has taken the address. */
  answer(answers: ListenerAnswers): void {
    if (this.#server === undefined) this.#server = listen(this.#place, answers);
    else this.#server.reload(answers);
  }

  /** Accepts no more connections, lets the running requests finish, then ends what is left. Safe to call twice. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    await Promise.race([server.stop(false), sleep(FINISH_MS, undefined, { ref: false })]);
    await server.stop(true);
  }
}

function listen(
  place: NetworkPlace | { readonly unix: string },
  answers: ListenerAnswers,
): Server<undefined> {
  const address =
    'unix' in place
      ? { unix: place.unix }
      : { hostname: place.host, port: place.port, reusePort: place.reusePort };

  const options = {
    ...address,
    ...answers,
    idleTimeout: 'unix' in place ? INNER_IDLE_SECONDS : IDLE_SECONDS,
    maxRequestBodySize: MAX_BODY_BYTES,
    // Otherwise Bun writes a stack to standard error for each stream that is cut.
    development: false,
  };

  try {
    // The types know no `idleTimeout` on a Unix socket, but Bun keeps it there too, and no other of a single request.
    return Bun.serve(options as Bun.Serve.Options<undefined>);
  } catch (cause) {
    throw 'unix' in place ? cause : new ListenError(place, cause);
  }
}

/** An address is not available. The message says which, and which setting chooses another. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  constructor(place: NetworkPlace, cause: unknown) {
    super(describe(place, cause), { cause });
  }
}

function describe({ host, port, isManagement }: NetworkPlace, cause: unknown): string {
  const [portFlag, hostFlag] = isManagement
    ? ['--management-port', '--management-host']
    : ['--port', '--host'];
  switch (cause instanceof Error && 'code' in cause ? cause.code : undefined) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another with ${portFlag}.`;
    case 'EACCES':
      return `This user may not listen on port ${port} of ${host}. Choose one from 1024 on with ${portFlag}.`;
    default:
      // For a name that does not resolve, the system's own message is misleading, such as "file already exists".
      return `Cannot listen on ${host}: this machine does not have that address. Choose another with ${hostFlag}.`;
  }
}
