import type { Logger } from 'pino';
import { digestOf } from '../packages/server/src/domain/secret.ts';
import {
  type LastKnownPlace,
  lastKnownPlace,
} from '../packages/server/src/evaluation/last-known/last-known-file.ts';
import { LastKnownWriter } from '../packages/server/src/evaluation/last-known/last-known-writer.ts';
import { LogServer } from '../packages/server/src/evaluation/log/log-server.ts';
import { LOG_PATH } from '../packages/server/src/evaluation/log/messages.ts';
import { Upstreams } from '../packages/server/src/evaluation/log/upstreams.ts';
import { ReadPlane } from '../packages/server/src/evaluation/read-plane.ts';
import { evaluationRoutes } from '../packages/server/src/evaluation/routes.ts';
import { evaluationContext } from '../packages/server/src/evaluation/serving/context.ts';
import type { Routes } from '../packages/server/src/http/listener.ts';
import { CURRENT_WITHIN_MS, findLastKnown } from '../packages/server/src/nodes/start-from-last-known.ts';
import { PrimaryBeat } from '../packages/server/src/storage/primary-beat.ts';
import type { Database } from './database.ts';
import type { Disk } from './disk.ts';
import { type Kernel, Owner } from './kernel.ts';
import type { Link } from './link.ts';
import { askOver, sourceOver, standbySourceOver } from './sessions.ts';
import type { Standby } from './standby.ts';

/** A token of a relay, and what it opens: ids of projects and names of environments; absent for all. */
export interface Token {
  readonly text: string;
  readonly projects?: readonly string[];
  readonly environments?: readonly string[];
}

/** Where a node gets its log. */
export type Source =
  | {
      readonly kind: 'database';
      readonly link: Link;
      /** The copy that it reads instead, and the way there. */
      readonly standby?: { readonly server: Standby; readonly link: Link };
    }
  | {
      readonly kind: 'upstream';
      readonly link: Link;
      upstream: string;
      token: Token;
      /** Whether it is a worker of its upstream: a process of the same machine. */
      readonly isWorker?: boolean;
    };

/** The address of a relay's upstream begins so: a load balancer decides what answers there. */
export const UPSTREAM_OF = 'upstream-of-';

/** How often a relay looks at its token, in milliseconds. */
const RENEW_MS = 2_000;

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
    readonly maxStreamsPerKey: number;
  };
  readonly count: (what: string) => void;
  /** A relay has given its upstream up, because it heard nothing. */
  readonly onSilent: (place: Place) => void;
  /** A process did something that it must not do. */
  readonly broken: (kind: 'closed' | 'disk', name: string, story: string) => void;
}

/** A place in the fleet: processes in it are killed and started again. */
export class Place {
  readonly name: string;
  readonly source: Source;
  /** How wrong the wall clock of its machine is. */
  readonly skewMs: number;
  /** Where its last known flags are, if it keeps them. */
  readonly disk: Disk | undefined;
  readonly #parts: FleetParts;
  owner: Owner;
  plane: ReadPlane | undefined;
  isListening = false;
  /** Called when a process begins to listen. */
  onListening: () => void = () => {};
  /** Counts the processes that were in this place. */
  incarnation = 0;
  /** Whether a byte of its disk was damaged. */
  hasRotted = false;
  /** What the processes said at levels above debug, with their times. */
  readonly said: string[] = [];
  #routes: Routes = {};
  #close: () => void = () => {};

  constructor(name: string, source: Source, parts: FleetParts, skewMs: number, disk?: Disk) {
    this.name = name;
    this.source = source;
    this.skewMs = skewMs;
    this.disk = disk;
    this.#parts = parts;
    this.owner = new Owner(name, 0);
    this.owner.isAlive = false;
  }

  /** Starts a process, if there is none. */
  start(): void {
    if (this.owner.isAlive) return;
    this.incarnation++;
    this.owner = new Owner(`${this.name}#${this.incarnation}`, this.#parts.kernel.now, this.skewMs);
    this.#parts.kernel.after(0, () => this.#build(), this.owner);
  }

  /** Closes what the process runs; it lives on, as one that has other work. */
  close(): void {
    this.owner.endedAt = this.#parts.kernel.now;
    this.isListening = false;
    this.#parts.kernel.as(this.owner, () => this.#close());
    this.plane = undefined;
  }

  /** Ends the process as a power cut does. Its connections end with it. */
  kill(): void {
    if (this.plane !== undefined) this.owner.endedAt = this.#parts.kernel.now;
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
    const parts = { kernel, database, server: databaseOwner, link: source.link };
    const ofDatabase = () =>
      source.kind === 'database' && source.standby
        ? standbySourceOver(parts, source.standby.server, source.standby.link)
        : sourceOver(parts);
    const upstreams = source.kind === 'upstream' ? this.#upstreamsOf(source, log) : undefined;
    const plane = new ReadPlane({
      log,
      maxQueuedBytes: limits.maxQueuedBytes,
      source: upstreams ?? ofDatabase(),
    });

    const docsUrl = 'http://docs';
    const { backlogBytes, loading, maxStreamsPerKey } = limits;
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
    const settings = { docsUrl, log, maxStreamsPerKey };
    this.#routes = { ...evaluationRoutes(evaluationContext(plane, settings)), ...logServer.routes };
    this.plane = plane;

    const kept = this.#keepLastKnown(plane, log);
    const beat = source.kind === 'database' ? this.#beat(source.link) : undefined;
    const renewal = upstreams && setInterval(() => void upstreams.renewToken(), RENEW_MS);
    this.#close = () => {
      clearInterval(renewal);
      logServer.close();
      void kept?.writer?.close();
      beat?.close();
      plane.close();
      watch.isClosed = true;
    };
    void this.#begin(plane, log, kept?.place).catch((error: unknown) => this.said.push(`gave up: ${error}`));
  }

  /** As a relay finds its upstream, whose token may be replaced while it runs. */
  #upstreamsOf(source: Source & { readonly kind: 'upstream' }, log: Logger): Upstreams {
    const urls = [`http://${UPSTREAM_OF}${this.name}`];
    return new Upstreams({ urls, token: () => source.token.text, log });
  }

  /** In the order of the product: a process listens once it is current, or after a while. A worker waits. */
  async #begin(plane: ReadPlane, log: Logger, place: LastKnownPlace | undefined): Promise<void> {
    const { source } = this;
    const found = place && (await findLastKnown(place, log));
    // A process is stopped once it has begun to follow, and not before.
    if (this.plane !== plane) return;
    if (found) this.#parts.count('last known flags');
    plane.start(found && { ...found, continues: source.kind === 'upstream' && source.isWorker !== true });
    if (source.kind === 'upstream' && source.isWorker) await plane.firstAttempt;
    else await plane.attempted(CURRENT_WITHIN_MS);
    this.isListening = this.plane === plane;
    if (this.isListening) this.onListening();
  }

  /** A worker starts from the file of its node, and keeps none itself. */
  #keepLastKnown(plane: ReadPlane, log: Logger) {
    const { disk, source, name } = this;
    if (disk === undefined) return undefined;
    if (source.kind === 'upstream' && source.isWorker)
      return { place: lastKnownPlace(`/${source.upstream}`, 'database') };
    const origin = source.kind === 'database' ? 'database' : `upstream ${source.token.text}`;
    const place = lastKnownPlace(`/${name}`, origin);
    const writer = new LastKnownWriter({ place, plane, log });
    plane.observe(writer);
    return { place, writer };
  }

  /** Every node that can write marks the log of the primary, for its standbys. */
  #beat(link: Link): PrimaryBeat | undefined {
    const { kernel, database, databaseOwner: server } = this.#parts;
    if (database.standbys.length === 0) return undefined;
    const ask = askOver({ kernel, server, link, database });
    const mark = async () => {
      await ask(() => database.mark());
      return [];
    };
    return new PrimaryBeat({ query: mark });
  }

  /** Counts what a process does, and reports what it does after its end. */
  #watch() {
    const { count, broken } = this.#parts;
    const note = (what: string) => {
      count(what);
      if (watch.isClosed) broken('closed', this.name, `${this.name} was closed before ${what}`);
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

  /** Whatever fails, the file is whole: only a damaged byte may make it useless. */
  #onDamaged(): void {
    this.#parts.count('file ignored');
    if (this.hasRotted) return;
    this.#parts.broken('disk', this.name, `${this.name} found its last known flags damaged, and no disk was`);
  }

  #logger(): Logger {
    const say = (level: string) => (details: unknown, message?: string) => {
      if (message === 'a relay has changes that this node lacks') this.#parts.count('behind answered');
      if (message === 'the relay token was replaced') this.#parts.count('token took over');
      if (message?.includes('the file is damaged')) this.#onDamaged();
      if (JSON.stringify(details).includes('has been silent')) this.#parts.onSilent(this);
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
export function relayRecord({ text, ...scope }: Token) {
  return { id: `relay-${text}`, digest: digestOf(text), ...scope };
}
