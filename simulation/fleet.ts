import type { Logger } from 'pino';
import { digestOf } from '../packages/server/src/domain/secret.ts';
import { LogServer } from '../packages/server/src/evaluation/log/log-server.ts';
import { RemoteLog } from '../packages/server/src/evaluation/log/remote-log.ts';
import { ReadPlane } from '../packages/server/src/evaluation/read-plane.ts';
import { evaluationContext } from '../packages/server/src/evaluation/serving/context.ts';
import { v1Routes } from '../packages/server/src/evaluation/v1/routes.ts';
import type { Routes } from '../packages/server/src/http/listener.ts';
import { type Database, sourceOver } from './database.ts';
import { type Kernel, Owner } from './kernel.ts';
import type { Link } from './link.ts';

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

/** A place in the fleet: processes in it are killed and started again. */
export class Place {
  readonly name: string;
  readonly source: Source;
  readonly #kernel: Kernel;
  readonly #database: Database;
  readonly #databaseOwner: Owner;
  owner: Owner;
  plane: ReadPlane | undefined;
  isListening = false;
  /** Counts the processes that were in this place. */
  incarnation = 0;
  /** What the processes said at levels above debug, with their times. */
  readonly said: string[] = [];
  #routes: Routes = {};

  constructor(name: string, source: Source, kernel: Kernel, database: Database, databaseOwner: Owner) {
    this.name = name;
    this.source = source;
    this.#kernel = kernel;
    this.#database = database;
    this.#databaseOwner = databaseOwner;
    this.owner = new Owner(name, 0);
    this.owner.isAlive = false;
  }

  /** Starts a process, whose wall clock is wrong by `skewMs`. */
  start(skewMs = 0): void {
    if (this.owner.isAlive) return;
    this.incarnation++;
    this.owner = new Owner(`${this.name}#${this.incarnation}`, this.#kernel.now, skewMs);
    this.#kernel.after(0, () => this.#build(), this.owner);
  }

  /** Ends the process as a power cut does. Its connections end with it. */
  kill(): void {
    this.owner.isAlive = false;
    this.isListening = false;
    this.plane = undefined;
  }

  /** Answers a request that has arrived. */
  readonly handle = (request: Request): Response | Promise<Response> => {
    const route = this.#routes[new URL(request.url).pathname];
    const server = { timeout() {} };
    // The routes use no more of the server and of the request than this.
    return route?.(request as never, server as never) ?? new Response(null, { status: 404 });
  };

  #build(): void {
    const log = this.#logger();
    const { source } = this;
    const plane = new ReadPlane({
      log,
      maxQueuedBytes: 1 << 20,
      source:
        source.kind === 'database'
          ? sourceOver(this.#kernel, this.#database, source.link, this.#databaseOwner)
          : new RemoteLog({ url: `http://${UPSTREAM_OF}${this.name}`, token: source.token.text }),
    });
    const docsUrl = 'http://docs';
    const logServer = new LogServer({ plane, docsUrl, log });
    plane.observe(logServer);
    this.#routes = { ...v1Routes(evaluationContext(plane, { docsUrl, log })), ...logServer.routes };
    this.plane = plane;
    const listen = (): void => {
      this.isListening = true;
    };
    plane.firstAttempt.then(listen, (error: unknown) => this.said.push(`gave up: ${error}`));
    this.#kernel.after(LISTENS_AFTER_MS, listen);
    plane.start();
  }

  #logger(): Logger {
    const say = (level: string) => (details: unknown, message?: string) => {
      const reason = typeof details === 'object' ? JSON.stringify(details) : details;
      this.said.push(
        `${Math.round(this.#kernel.now)} ${this.owner.name} ${level} ${message ?? ''} ${reason}`,
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
