import type { Logger } from 'pino';
import { digestOf } from '../packages/server/src/domain/secret.ts';
import { LogServer } from '../packages/server/src/evaluation/log/log-server.ts';
import { LOG_PATH } from '../packages/server/src/evaluation/log/messages.ts';
import { RemoteLog } from '../packages/server/src/evaluation/log/remote-log.ts';
import { ReadPlane } from '../packages/server/src/evaluation/read-plane.ts';
import { evaluationContext } from '../packages/server/src/evaluation/serving/context.ts';
import { v1Routes } from '../packages/server/src/evaluation/v1/routes.ts';
import type { Routes } from '../packages/server/src/http/listener.ts';
import type { Database } from './database.ts';
import { type Kernel, Owner } from './kernel.ts';
import type { Link } from './link.ts';
import { sourceOver } from './sessions.ts';

/** A token of a relay, and the names of the environments that it opens; absent for all. */
export interface Token {
  readonly text: string;
  readonly environments?: readonly string[];
}

/** Where a node gets its log. */
export type Source =
  | { readonly kind: 'database'; readonly link: Link }
  | { readonly kind: 'upstream'; readonly link: Link; upstream: string; token: Token };

/** The address of a relay's upstream begins so: a load balancer decides what answers there. */
export const UPSTREAM_OF = 'upstream-of-';

/** How long a starting process waits for its source before it listens, as the product does. */
const LISTENS_AFTER_MS = 3_000;

/** What the places of one fleet share. */
export interface FleetParts {
  readonly kernel: Kernel;
  readonly database: Database;
  readonly databaseOwner: Owner;
  /** Settings of its processes; small ones, so that histories reach the limits. */
  readonly limits: {
    readonly backlogBytes: number;
    readonly maxQueuedBytes: number;
    /** Relays that load their state from one process at once. */
    readonly loading: number;
  };
  readonly count: (what: string) => void;
  /** A process did something after it was closed. */
  readonly onLateWork: (name: string, what: string) => void;
}

/** A place in the fleet: processes in it are killed and started again. */
export class Place {
  readonly name: string;
  readonly source: Source;
  readonly #parts: FleetParts;
  owner: Owner;
  plane: ReadPlane | undefined;
  isListening = false;
  /** Counts the processes that were in this place. */
  incarnation = 0;
  /** What the processes said at levels above debug, with their times. */
  readonly said: string[] = [];
  #routes: Routes = {};
  #close: () => void = () => {};

  constructor(name: string, source: Source, parts: FleetParts) {
    this.name = name;
    this.source = source;
    this.#parts = parts;
    this.owner = new Owner(name, 0);
    this.owner.isAlive = false;
  }

  /** Starts a process, whose wall clock is wrong by `skewMs`. */
  start(skewMs = 0): void {
    if (this.owner.isAlive) return;
    this.incarnation++;
    this.owner = new Owner(`${this.name}#${this.incarnation}`, this.#parts.kernel.now, skewMs);
    this.#parts.kernel.after(0, () => this.#build(), this.owner);
  }

  /** Closes what the process runs; it lives on, as one that has other work. */
  close(): void {
    this.isListening = false;
    this.#parts.kernel.as(this.owner, () => this.#close());
    this.plane = undefined;
  }

  /** Ends the process as a power cut does. Its connections end with it. */
  kill(): void {
    this.owner.isAlive = false;
    this.isListening = false;
    this.plane = undefined;
  }

  /** Answers a request that has arrived. */
  readonly handle = (request: Request): Response | Promise<Response> => {
    const path = new URL(request.url).pathname;
    const route = this.#routes[path];
    const server = { timeout() {} };
    const token = request.headers.get('Authorization')?.slice('Bearer '.length);
    const isNew = token !== undefined && this.plane?.catalog.relays.get(digestOf(token)) === undefined;
    // The routes use no more of the server and of the request than this.
    const answer = route?.(request as never, server as never) ?? new Response(null, { status: 404 });
    if (path !== LOG_PATH) return answer;
    return Promise.resolve(answer).then((response) => {
      if (isNew && response.status === 200) this.#parts.count('token waited');
      if (response.status === 503 && response.headers.get('Retry-After') === '2')
        this.#parts.count('asked to come again');
      return response;
    });
  };

  #build(): void {
    const log = this.#logger();
    const { source } = this;
    const { kernel, database, databaseOwner, limits } = this.#parts;
    const plane = new ReadPlane({
      log,
      maxQueuedBytes: limits.maxQueuedBytes,
      source:
        source.kind === 'database'
          ? sourceOver(kernel, database, source.link, databaseOwner)
          : new RemoteLog({ url: `http://${UPSTREAM_OF}${this.name}`, token: source.token.text }),
    });
    const docsUrl = 'http://docs';
    const { backlogBytes, loading } = limits;
    const logServer = new LogServer({
      plane,
      docsUrl,
      log,
      backlogBytes,
      limits: { loading, largeState: 0 },
    });
    plane.observe(logServer);
    const watch = this.#watch();
    plane.observe(watch);
    this.#routes = { ...v1Routes(evaluationContext(plane, { docsUrl, log })), ...logServer.routes };
    this.plane = plane;
    this.#close = () => {
      logServer.close();
      plane.close();
      watch.isClosed = true;
    };

    const listen = (): void => {
      this.isListening = this.plane === plane;
    };
    plane.firstAttempt.then(listen, (error: unknown) => this.said.push(`gave up: ${error}`));
    kernel.after(LISTENS_AFTER_MS, listen);
    plane.start();
  }

  /** Counts what a process does, and reports what it does after its end. */
  #watch() {
    const { count, onLateWork } = this.#parts;
    const note = (what: string) => {
      count(what);
      if (watch.isClosed) onLateWork(this.name, what);
    };
    let hasLoaded = false;
    const watch = {
      isClosed: false,
      loaded: () => {
        hasLoaded = true;
        note('snapshot taken');
      },
      applied: () => note('row applied'),
      live: () => {
        note(hasLoaded ? 'began' : 'continued');
        hasLoaded = false;
      },
    };
    return watch;
  }

  #logger(): Logger {
    const say = (level: string) => (details: unknown, message?: string) => {
      if (message === 'a relay has changes that this node lacks') this.#parts.count('behind answered');
      const reason = typeof details === 'object' ? JSON.stringify(details) : details;
      this.said.push(
        `${Math.round(this.#parts.kernel.now)} ${this.owner.name} ${level} ${message ?? ''} ${reason}`,
      );
    };
    const quiet = () => {};
    // The read plane uses these of a logger.
    return { debug: quiet, trace: quiet, info: say('info'), warn: say('warn'), error: say('error') } as never;
  }
}

/** The record of a token in the database. */
export function relayRecord({ text, environments }: Token) {
  return { id: `relay-${text}`, digest: digestOf(text), ...(environments && { environments }) };
}
