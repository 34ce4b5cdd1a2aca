import {
  childrenOf,
  lastingPort,
  Management,
  type NodeProcess,
  type PostgresServer,
  randomAdminToken,
  type StartNodeOptions,
  startNode,
  startPostgres,
  startTcpProxy,
  type TcpProxy,
  temporaryFolder,
} from '@halyard/testing';
import type { Crash } from './checker/history.ts';
import { now } from './clock.ts';
import { PgBouncer } from './pgbouncer.ts';
import { ServerPair } from './server-pair.ts';

/**
 * The kinds of fleets: three nodes on PostgreSQL, one node on SQLite, three nodes on one SQLite file, one node of three
 * workers on PostgreSQL and on SQLite, a node with two relays in a row, nodes on PostgreSQL that keep their last
 * known flags, nodes on a primary and its synchronous standby, and nodes that write through a pooler.
 */
export const ENGINES = [
  'postgres',
  'sqlite',
  'sqlite-shared',
  'workers',
  'sqlite-workers',
  'relay',
  'cold-start',
  'failover',
  'pooler',
] as const;

/** One of {@link ENGINES}. */
export type Engine = (typeof ENGINES)[number];

/** The log message with which a node says that it has lost the log. */
const LOSS_MESSAGE = 'the change log is unreachable';

/** How long a node may take to be ready, on a machine that a campaign keeps busy. */
const STARTS_WITHIN_MS = 180_000;

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
  /** Present where nodes write through one. */
  readonly pooler?: PgBouncer;
  /** Ends every process and removes the data. */
  close(): Promise<void>;
}

/** The nodes that take changes. */
export function managersOf({ nodes }: Fleet): readonly FleetNode[] {
  return nodes.filter(({ remembers }) => !remembers);
}

/** Nodes on one PostgreSQL, each behind a proxy of its own. */
export async function startPostgresFleet(
  names: readonly string[] = ['node-1', 'node-2', 'node-3'],
  workers = 1,
  remembering: readonly string[] = [],
): Promise<Fleet> {
  const postgres = await startPostgres();
  const data = temporaryFolder();
  const adminToken = randomAdminToken();
  const databaseUrl = await postgres.createDatabase();
  const nodes = await Promise.all(
    names.map(async (name) => {
      const proxy = await startTcpProxy({ port: postgres.port });
      const url = new URL(databaseUrl);
      url.port = String(proxy.port);
      url.searchParams.set('application_name', name);
      const env = { HALYARD_WORKERS: String(workers) };
      const remembers = remembering.includes(name);
      const folder = remembers ? { dataFolder: data.file(name) } : {};
      return new FleetNode(name, { proxy, workers, remembers }, (until = 'ready') =>
        startNode({
          ...{ databaseUrl: url.href, adminToken, timeoutMs: STARTS_WITHIN_MS, env, until },
          ...folder,
        }),
      );
    }),
  );
  return await startAll({
    nodes,
    adminToken,
    postgres,
    database: ['--database-url', databaseUrl],
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await postgres.close();
      data.remove();
    },
  });
}

/** Starts a fleet of the kind that belongs to the engine. */
export async function startFleet(engine: Engine): Promise<Fleet> {
  if (engine === 'postgres') return await startPostgresFleet();
  if (engine === 'relay') return await startRelayFleet();
  if (engine === 'cold-start') {
    return await startPostgresFleet(['node-1', 'node-2', 'node-3'], 1, ['node-2', 'node-3']);
  }
  if (engine === 'failover') return await startFailoverFleet();
  if (engine === 'pooler') return await startPooledFleet();
  if (engine === 'workers') return await startPostgresFleet(['node-1'], 3);
  if (engine === 'sqlite-workers') return await startSqliteFleet(['node-1'], 3);
  return await startSqliteFleet(engine === 'sqlite' ? ['node-1'] : ['node-1', 'node-2', 'node-3']);
}

/** Three nodes that know both servers of a pair. */
async function startFailoverFleet(): Promise<Fleet> {
  const pair = await ServerPair.start();
  const adminToken = randomAdminToken();
  const databaseUrl = pair.addressOf(await pair.primary.createDatabase());
  const nodes = ['node-1', 'node-2', 'node-3'].map((name) => {
    const settings = `target_session_attrs=read-write&application_name=${name}`;
    return new FleetNode(name, {}, (until = 'ready') =>
      startNode({
        ...{ databaseUrl: `${databaseUrl}?${settings}`, adminToken, timeoutMs: STARTS_WITHIN_MS, until },
      }),
    );
  });
  return await startAll({
    ...{ nodes, adminToken, pair },
    get postgres() {
      return pair.primary;
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await pair.close();
    },
  });
}

/** Three nodes that write through a pooler and follow the log directly, each through a proxy. */
async function startPooledFleet(): Promise<Fleet> {
  const postgres = await startPostgres();
  const pooler = new PgBouncer(postgres);
  await pooler.start();
  const adminToken = randomAdminToken();
  const direct = await postgres.createDatabase();
  const databaseUrl = pooler.addressOf(direct);
  const nodes = await Promise.all(
    ['node-1', 'node-2', 'node-3'].map(async (name) => {
      const proxy = await startTcpProxy({ port: postgres.port });
      const follow = new URL(direct);
      follow.port = String(proxy.port);
      follow.searchParams.set('application_name', name);
      const env = { HALYARD_DATABASE_FOLLOW_URL: follow.href };
      return new FleetNode(name, { proxy }, (until = 'ready') =>
        startNode({ ...{ databaseUrl, adminToken, timeoutMs: STARTS_WITHIN_MS, env, until } }),
      );
    }),
  );
  return await startAll({
    ...{ nodes, adminToken, postgres, pooler },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await pooler.close();
      await postgres.close();
    },
  });
}

/** Nodes on one SQLite file. Its folder outlives their processes. */
async function startSqliteFleet(names: readonly string[], workers = 1): Promise<Fleet> {
  const folder = temporaryFolder();
  const adminToken = randomAdminToken();
  const env = { HALYARD_WORKERS: String(workers) };
  const nodes = names.map(
    (name) =>
      new FleetNode(name, { workers }, () =>
        startNode({ dataFolder: folder.path, adminToken, timeoutMs: STARTS_WITHIN_MS, env }),
      ),
  );
  return await startAll({
    nodes,
    adminToken,
    database: ['--data', folder.path],
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      folder.remove();
    },
  });
}

/** A node on SQLite, a relay that follows it, and a relay that follows that, with a link that can fail before each relay. */
async function startRelayFleet(): Promise<Fleet> {
  const data = temporaryFolder();
  const adminToken = randomAdminToken();
  const [originPort, relayPort] = [lastingPort(), lastingPort()];
  const timeoutMs = STARTS_WITHIN_MS;
  const origin = new FleetNode('node-1', {}, (until = 'ready') =>
    startNode({
      ...{ dataFolder: data.file('node-1'), adminToken, timeoutMs, until },
      arguments: ['--port', String(originPort)],
    }),
  );
  await origin.start();
  const { token } = await new Management({ url: origin.url, adminToken }).createRelayToken('campaign');
  const relayOf = async (name: string, upstreamPort: number, port: number) => {
    const proxy = await startTcpProxy({ port: upstreamPort });
    const relay = { upstream: `http://127.0.0.1:${proxy.port}`, token };
    return new FleetNode(name, { proxy, remembers: true, isRelay: true }, (until = 'ready') =>
      startNode({
        ...{ relay, dataFolder: data.file(name), timeoutMs, until },
        arguments: ['--port', String(port)],
      }),
    );
  };
  const first = await relayOf('relay-1', originPort, relayPort);
  const second = await relayOf('relay-2', relayPort, lastingPort());
  const nodes = [origin, first, second];
  try {
    await first.start();
    await second.start();
  } catch (error) {
    await Promise.all(nodes.map((node) => node.close()));
    throw error;
  }
  return {
    nodes,
    adminToken,
    database: ['--data', data.file('node-1')],
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      data.remove();
    },
  };
}

async function startAll(fleet: Fleet): Promise<Fleet> {
  try {
    await Promise.all(fleet.nodes.map((node) => node.start()));
    return fleet;
  } catch (error) {
    await fleet.close();
    throw error;
  }
}
