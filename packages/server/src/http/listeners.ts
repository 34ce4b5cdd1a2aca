import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from 'bun';
import { LastAnswers } from './last-answers.ts';
import { ListenError, type ListenPlace } from './listen-error.ts';
import {
  evaluationOnly,
  everything,
  type ListenerParts,
  listen,
  managementOnly,
  type Served,
  serve,
  serveLast,
} from './listener.ts';

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
}

/** Longest a request may take to finish once the node stops, in milliseconds. */
const FINISH_MS = 2000;

/** The open listeners of a node. They listen from the beginning, and serve once they are given what. */
export class Listeners {
  /** Where this machine reaches the evaluation interface. */
  readonly url: string;
  /** Where it reaches management, when that is another address. */
  readonly managementUrl?: string;
  readonly #main: Server<undefined>;
  readonly #second: Server<undefined> | undefined;
  readonly #served = new Map<Server<undefined>, Served>();

  /** Listens. Throws a {@link ListenError} when an address cannot be had; then none is open. */
  constructor({ host, port, reusePort, managementPort, managementHost = host }: ListenersOptions) {
    this.#main = listenOn({ host, port, isManagement: false }, reusePort);
    this.url = addressOf(host, this.#main.port ?? port);
    if (managementPort === undefined) return;
    try {
      const place = { host: managementHost, port: managementPort, isManagement: true };
      this.#second = listenOn(place, reusePort);
    } catch (error) {
      void this.#main.stop(true);
      throw error;
    }
    this.managementUrl = addressOf(managementHost, this.#second.port ?? managementPort);
  }

  /** The port of the evaluation interface. */
  get port(): number | undefined {
    return this.#main.port;
  }

  /** Serves it all from now on, each part where it belongs. */
  serve(parts: ListenerParts): void {
    if (this.#second === undefined) {
      this.#serveOn(this.#main, everything(parts));
      return;
    }
    this.#serveOn(this.#main, evaluationOnly(parts));
    this.#serveOn(this.#second, managementOnly(parts));
  }

  /** Sends callers elsewhere, answer by answer, until they have gone or the time is over. */
  async answerLast(windowMs: number): Promise<void> {
    const last = new LastAnswers();
    for (const [server, served] of this.#served) serveLast(server, served, last);
    await last.untilQuiet(windowMs);
  }

  /** Accepts no more connections, lets the running requests finish, then ends what is left. */
  async close(): Promise<void> {
    const servers = this.#second === undefined ? [this.#main] : [this.#main, this.#second];
    await Promise.all(servers.map(stopServer));
  }

  #serveOn(server: Server<undefined>, served: Served): void {
    serve(server, served);
    this.#served.set(server, served);
  }
}

function listenOn(place: ListenPlace, reusePort: boolean): Server<undefined> {
  try {
    return listen({ host: place.host, port: place.port, reusePort });
  } catch (cause) {
    throw new ListenError(place, cause);
  }
}

/** Where this machine reaches a listener. "Every address" is none that anybody could be sent to. */
function addressOf(host: string, port: number): string {
  const reachable = ['0.0.0.0', '::', '[::]'].includes(host) ? 'localhost' : host;
  const name = reachable.includes(':') && !reachable.startsWith('[') ? `[${reachable}]` : reachable;
  return `http://${name}:${port}`;
}

async function stopServer(server: Server<undefined>): Promise<void> {
  await Promise.race([server.stop(false), sleep(FINISH_MS, undefined, { ref: false })]);
  await server.stop(true);
}
