import {
  lastingPort,
  randomAdminToken,
  startNode,
  startPostgres,
  startTcpProxy,
  temporaryFolder,
} from '@halyard/testing';
import { type Fleet, FleetNode, STARTS_WITHIN_MS, startAll } from './fleet-node.ts';
import { PatroniCluster, type Replication } from './patroni.ts';
import { PgBouncer } from './pgbouncer.ts';
import { startPublishedFleet } from './published-fleet.ts';
import { startBalancedFleet, startRelayFleet, startRelayTree } from './relay-fleets.ts';
import { ServerPair } from './server-pair.ts';
import { startStandbyFleet } from './standby-fleet.ts';

/**
 * The kinds of fleets: three nodes on PostgreSQL, one node on SQLite, three nodes on one SQLite file, one node of three
 * workers on PostgreSQL and on SQLite, a node with two relays in a row, two nodes with two relays of workers that know two upstreams each,
 * two nodes behind a load balancer
 * with two relays in a row, nodes on a standby whose link can fail, nodes on PostgreSQL that keep their last known flags, nodes on a primary and its synchronous standby, nodes
 * that write through a pooler, nodes on PostgreSQL that publish their environments, and nodes on three servers that Patroni keeps, which replicate synchronously or not.
 */
export const ENGINES = [
  'postgres',
  'sqlite',
  'sqlite-shared',
  'workers',
  'sqlite-workers',
  'relay',
  'relay-tree',
  'balancer',
  'standby',
  'cold-start',
  'failover',
  'pooler',
  'published',
  'patroni',
  'patroni-async',
] as const;

/** One of {@link ENGINES}. */
export type Engine = (typeof ENGINES)[number];

/** Nodes on one PostgreSQL, each behind a proxy of its own. `settings` are those of the nodes beside the fleet's own. */
export async function startPostgresFleet(
  names: readonly string[] = ['node-1', 'node-2', 'node-3'],
  workers = 1,
  remembering: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
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
      const env = { HALYARD_WORKERS: String(workers), ...settings };
      const remembers = remembering.includes(name);
      const folder = remembers ? { dataFolder: data.file(name) } : {};
      // It comes back at the same address, where its readers notice what it says first.
      const port = String(lastingPort());
      return new FleetNode(name, { proxy, workers, remembers }, (until = 'ready') =>
        startNode({
          databaseUrl: url.href,
          adminToken,
          timeoutMs: STARTS_WITHIN_MS,
          env,
          until,
          ...folder,
          arguments: ['--port', port],
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
  if (engine === 'relay-tree') return await startRelayTree();
  if (engine === 'balancer') return await startBalancedFleet();
  if (engine === 'standby') return await startStandbyFleet();
  if (engine === 'cold-start') {
    return await startPostgresFleet(['node-1', 'node-2', 'node-3'], 1, ['node-2', 'node-3']);
  }
  if (engine === 'failover') return await startFailoverFleet();
  if (engine === 'published') return await startPublishedFleet(startPostgresFleet);
  if (engine === 'pooler') return await startPooledFleet();
  if (engine === 'patroni') return await startPatroniFleet('synchronous');
  if (engine === 'patroni-async') return await startPatroniFleet('asynchronous');
  if (engine === 'workers') return await startPostgresFleet(['node-1'], 3);
  if (engine === 'sqlite-workers') return await startSqliteFleet(['node-1'], 3);
  return await startSqliteFleet(engine === 'sqlite' ? ['node-1'] : ['node-1', 'node-2', 'node-3']);
}

/** Three nodes that know both servers of a pair. */
async function startFailoverFleet(): Promise<Fleet> {
  const pair = await ServerPair.start();
  const adminToken = randomAdminToken();
  const nodes = nodesOnSeveral(pair.addressOf(await pair.primary.createDatabase()), adminToken);
  return await startAll({
    nodes,
    adminToken,
    pair,
    get postgres() {
      return pair.primary;
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await pair.close();
    },
  });
}

/** Three nodes that know all members of a cluster. */
async function startPatroniFleet(replication: Replication): Promise<Fleet> {
  const cluster = await PatroniCluster.start(replication);
  const adminToken = randomAdminToken();
  const nodes = nodesOnSeveral(await cluster.createDatabase(), adminToken);
  return await startAll({
    nodes,
    adminToken,
    cluster,
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await cluster.close();
    },
  });
}

/** Three nodes with an address of several servers, of which one takes writes. */
function nodesOnSeveral(databaseUrl: string, adminToken: string): FleetNode[] {
  return ['node-1', 'node-2', 'node-3'].map((name) => {
    const url = `${databaseUrl}?target_session_attrs=read-write&application_name=${name}`;
    return new FleetNode(name, {}, (until = 'ready') =>
      startNode({ databaseUrl: url, adminToken, timeoutMs: STARTS_WITHIN_MS, until }),
    );
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
        startNode({ databaseUrl, adminToken, timeoutMs: STARTS_WITHIN_MS, env, until }),
      );
    }),
  );

  return await startAll({
    nodes,
    adminToken,
    postgres,
    pooler,
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
