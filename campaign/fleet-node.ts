import {
  childrenOf,
  type NodeProcess,
  type PostgresServer,
  type StartNodeOptions,
  type TcpProxy,
  type TestObjectServer,
} from '@halyard/testing';
import type { Crash } from './checker/history.ts';
import { now } from './clock.ts';
import type { PatroniCluster } from './patroni.ts';
import type { PgBouncer } from './pgbouncer.ts';
import type { ServerPair } from './server-pair.ts';

/** The log message with which a node says that it has lost the log. */
const LOSS_MESSAGE = 'the change log is unreachable';

/** How long a node may take to be ready, on a machine that a campaign keeps busy. */
export const STARTS_WITHIN_MS = 180_000;

/** What is special about a {@link FleetNode}. */
export interface FleetNodeOptions {
  readonly proxy?: TcpProxy;
  readonly workers?: number;
  readonly remembers?: boolean;
  readonly isRelay?: boolean;
}

/** One place in the fleet: the process in it may be killed and replaced. */
export class FleetNode {
  readonly name: string;
  /** Present on PostgreSQL: everything between this node and the database. */
  readonly proxy: TcpProxy | undefined;
  /** How many worker processes it has; 1 for a node in a single process. */
  readonly workers: number;
  /** Whether it starts from its last known flags; such a node gets no writes, because its past may be a moment shorter. */
  readonly remembers: boolean;
  /** Whether it follows another node, and has no database. */
  readonly isRelay: boolean;
  readonly #start: (until: StartNodeOptions['until']) => Promise<NodeProcess>;
  readonly #processes: NodeProcess[] = [];
  readonly #crashes: Crash[] = [];
  #isEnding = false;

  constructor(
    name: string,
    { proxy, workers = 1, remembers = false, isRelay = false }: FleetNodeOptions,
    start: (until: StartNodeOptions['until']) => Promise<NodeProcess>,
  ) {
    this.name = name;
    this.proxy = proxy;
    this.workers = workers;
    this.remembers = remembers;
    this.isRelay = isRelay;
    this.#start = start;
  }

  /** Where the node is, or was before it was killed. */
  get url(): string {
    return this.process.url;
  }

  /** The process that is, or was last, in this place. */
  get process(): NodeProcess {
    const current = this.#processes.at(-1);
    if (current === undefined) throw new Error(`${this.name} was never started`);
    return current;
  }

  /** Starts a process in this place and waits until it is ready, or only until it listens. */
  async start(until: StartNodeOptions['until'] = 'ready'): Promise<void> {
    const process = await this.#start(until);
    this.#processes.push(process);
    this.#isEnding = false;
    void process.exited.then((code) => {
      if (!this.#isEnding) this.#noteCrash(process, code);
    });
  }

  /** Ends the process as an operator would. Ending badly counts as a crash. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    const code = await this.process.stop();
    if (code !== 0) this.#noteCrash(this.process, code);
  }

  /** Ends the process as a power cut would. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    await this.process.kill();
  }

  /** The process ids of its workers that run now. */
  workerPids(): readonly number[] {
    return this.workers === 1 ? [] : childrenOf(this.process.pid);
  }

  /**
   * Names the process that answered, where there are several, now or over time: each makes request ids of its own. For
   * the record of an answer.
   */
  processOf(headers: Headers): { readonly process?: string } {
    const id = headers.get('x-request-id')?.split('-')[0];
    const isOneAndTheSame = this.workers === 1 && !this.remembers;
    return isOneAndTheSame || id === undefined ? {} : { process: id };
  }

  /** Processes that ended unexpectedly. */
  get crashes(): readonly Crash[] {
    return this.#crashes;
  }

  #noteCrash(process: NodeProcess, code: number): void {
    const lastWords = process.logs().slice(-500);
    this.#crashes.push({ node: this.name, at: now(), story: `Exit code ${code}; it wrote: ${lastWords}` });
  }

  /** When the processes in this place said that they had lost the log, epoch milliseconds. */
  losses(): readonly number[] {
    return this.#processes.flatMap((process) =>
      process
        .logs()
        .split('\n')
        // A worker that was frozen or replaced speaks for itself; the node is its supervisor.
        .filter((line) => line.includes(LOSS_MESSAGE) && !line.includes('"worker":'))
        .map((line) => Date.parse(String(JSON.parse(line).time))),
    );
  }

  /** Everything the processes in this place wrote. */
  logs(): string {
    return this.#processes.map((process) => process.logs()).join('\n');
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    this.#processes.at(-1)?.resume();
    await this.#processes.at(-1)?.kill();
    await this.proxy?.close();
  }
}

/** A load balancer between a relay and its nodes: the relay's proxy, which leads to one of the choices. */
export interface Balancer {
  readonly relay: FleetNode;
  readonly choices: readonly FleetNode[];
}

/** The relay token of a fleet, which may be replaced: the file in which its relays find it, and its id. */
export interface RelayTokenPlace {
  readonly file: string;
  id: string;
}

/** A standby, and its link to the primary. */
export interface Standby {
  readonly server: PostgresServer;
  readonly link: TcpProxy;
}

/** The storage to which nodes publish, and the link over which nodes and readers reach it. */
export interface PublishedStorage {
  readonly server: TestObjectServer;
  readonly link: TcpProxy;
}

/** Nodes and the database they share, all real, all on this machine. */
export interface Fleet {
  readonly nodes: readonly FleetNode[];
  readonly adminToken: string;
  /** Present on PostgreSQL. */
  readonly postgres?: PostgresServer;
  /** Names the database for `halyard backup` and `halyard restore`; absent where it is not backed up. */
  readonly database?: readonly string[];
  /** Present where `postgres` has a standby. */
  readonly pair?: ServerPair;
  /** Present where Patroni keeps several servers. */
  readonly cluster?: PatroniCluster;
  /** Present where a relay reaches its nodes through one. */
  readonly balancer?: Balancer;
  /** Present where relays read their token from a file. */
  readonly relayToken?: RelayTokenPlace;
  /** Present where nodes follow a standby whose link to its primary can fail. */
  readonly standby?: Standby;
  /** Present where nodes write through one. */
  readonly pooler?: PgBouncer;
  /** Present where nodes publish their environments. */
  readonly storage?: PublishedStorage;
  /** Ends every process and removes the data. */
  close(): Promise<void>;
}

/** The nodes that take changes. */
export function managersOf({ nodes }: Fleet): readonly FleetNode[] {
  return nodes.filter(({ remembers }) => !remembers);
}

/** Starts all nodes of a fleet, or ends the fleet if one does not start. */
export async function startAll(fleet: Fleet): Promise<Fleet> {
  try {
    await Promise.all(fleet.nodes.map((node) => node.start()));
    return fleet;
  } catch (error) {
    await fleet.close();
    throw error;
  }
}
