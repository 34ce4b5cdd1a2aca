import { writeFileSync } from 'node:fs';
import {
  lastingPort,
  Management,
  type PostgresServer,
  randomAdminToken,
  startNode,
  startPostgres,
  startTcpProxy,
  temporaryFolder,
} from '@halyard/testing';
import { type Fleet, FleetNode, STARTS_WITHIN_MS, startAll } from './fleet-node.ts';

/** A node on SQLite, a relay that follows it, and a relay that follows that, with a link that can fail before each relay. */
export async function startRelayFleet(): Promise<Fleet> {
  const data = temporaryFolder();
  const adminToken = randomAdminToken();
  const [originPort, relayPort] = [lastingPort(), lastingPort()];

  const origin = new FleetNode('node-1', {}, (until = 'ready') =>
    startNode({
      dataFolder: data.file('node-1'),
      adminToken,
      timeoutMs: STARTS_WITHIN_MS,
      until,
      arguments: ['--port', String(originPort)],
    }),
  );
  await origin.start();
  const token = await createRelayToken(origin, adminToken);

  const first = await relayOf('relay-1', { upstreamPort: originPort, port: relayPort, token, data });
  const second = await relayOf('relay-2', { upstreamPort: relayPort, port: lastingPort(), token, data });
  const nodes = [origin, first, second];
  return await startRelays([first, second], {
    nodes,
    adminToken,
    database: ['--data', data.file('node-1')],
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      data.remove();
    },
  });
}

/**
 * Two nodes on one PostgreSQL, each behind a proxy, a relay that reaches them through a load balancer, and a relay that
 * follows that one. The balancer leads to `node-1`; a fault makes it choose another node.
 */
export async function startBalancedFleet(): Promise<Fleet> {
  const postgres = await startPostgres();
  const data = temporaryFolder();
  const adminToken = randomAdminToken();
  const databaseUrl = await postgres.createDatabase();
  const [port1, port2, relayPort] = [lastingPort(), lastingPort(), lastingPort()];

  const common = { postgres, databaseUrl, adminToken };
  const origins = [
    await nodeBehindProxy('node-1', { ...common, port: port1 }),
    await nodeBehindProxy('node-2', { ...common, port: port2 }),
  ] as const;
  for (const origin of origins) await origin.start();
  const token = await createRelayToken(origins[0], adminToken);

  const first = await relayOf('relay-1', { upstreamPort: port1, port: relayPort, token, data });
  const second = await relayOf('relay-2', { upstreamPort: relayPort, port: lastingPort(), token, data });
  const nodes = [...origins, first, second];
  return await startRelays([first, second], {
    nodes,
    adminToken,
    postgres,
    balancer: { relay: first, choices: origins },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await postgres.close();
      data.remove();
    },
  });
}

/**
 * Two nodes on one PostgreSQL, each behind a proxy, and two relays with workers that know two upstreams each: the first one both nodes,
 * the second one the first relay and a node. Their token may be replaced.
 */
export async function startRelayTree(): Promise<Fleet> {
  const postgres = await startPostgres();
  const data = temporaryFolder();
  const adminToken = randomAdminToken();
  const databaseUrl = await postgres.createDatabase();
  const [port1, port2, relayPort] = [lastingPort(), lastingPort(), lastingPort()];

  const origins = [
    await nodeBehindProxy('node-1', { postgres, databaseUrl, adminToken, port: port1 }),
    await nodeBehindProxy('node-2', { postgres, databaseUrl, adminToken, port: port2 }),
  ] as const;
  for (const origin of origins) await origin.start();

  const management = new Management({ url: origins[0].url, adminToken });
  const { token, id } = await management.createRelayToken('campaign');
  const tokenFile = data.file('relay-token');
  writeFileSync(tokenFile, token);
  const common = { tokenFile, data, workers: 2, otherPort: port2 };
  const first = await relayOf('relay-1', { ...common, upstreamPort: port1, port: relayPort });
  const second = await relayOf('relay-2', { ...common, upstreamPort: relayPort, port: lastingPort() });

  const nodes = [...origins, first, second];
  return await startRelays([first, second], {
    nodes,
    adminToken,
    postgres,
    relayToken: { file: tokenFile, id },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await postgres.close();
      data.remove();
    },
  });
}

async function createRelayToken({ url }: FleetNode, adminToken: string): Promise<string> {
  const { token } = await new Management({ url, adminToken }).createRelayToken('campaign');
  return token;
}

/** A place for a node with a link to its database that can fail. */
async function nodeBehindProxy(
  name: string,
  {
    postgres,
    databaseUrl,
    adminToken,
    port,
  }: {
    readonly postgres: PostgresServer;
    readonly databaseUrl: string;
    readonly adminToken: string;
    readonly port: number;
  },
): Promise<FleetNode> {
  const proxy = await startTcpProxy({ port: postgres.port });
  const url = new URL(databaseUrl);
  url.port = String(proxy.port);
  url.searchParams.set('application_name', name);
  return new FleetNode(name, { proxy }, (until = 'ready') =>
    startNode({
      databaseUrl: url.href,
      adminToken,
      timeoutMs: STARTS_WITHIN_MS,
      until,
      arguments: ['--port', String(port)],
    }),
  );
}

interface RelaySettings {
  readonly upstreamPort: number;
  /** The port of a second upstream, to which there is no link that can fail. */
  readonly otherPort?: number;
  readonly port: number;
  /** The token, or the file that holds it. */
  readonly token?: string;
  readonly tokenFile?: string;
  readonly workers?: number;
  readonly data: ReturnType<typeof temporaryFolder>;
}

/** A place for a relay, with a link to its upstream that can fail. */
async function relayOf(
  name: string,
  { upstreamPort, otherPort, port, token = '', tokenFile, workers = 1, data }: RelaySettings,
): Promise<FleetNode> {
  const proxy = await startTcpProxy({ port: upstreamPort });
  const ports = otherPort === undefined ? [proxy.port] : [proxy.port, otherPort];
  const upstream = ports.map((each) => `http://127.0.0.1:${each}`).join(',');
  const ofToken = tokenFile === undefined ? [] : ['--relay-token-file', tokenFile];
  return new FleetNode(name, { proxy, workers, remembers: true, isRelay: true }, (until = 'ready') =>
    startNode({
      relay: { upstream, token },
      dataFolder: data.file(name),
      timeoutMs: STARTS_WITHIN_MS,
      until,
      arguments: ['--port', String(port), '--workers', String(workers), ...ofToken],
    }),
  );
}

/** Starts the relays of a fleet whose nodes run, in this order: each follows the one before. */
async function startRelays(relays: readonly FleetNode[], fleet: Fleet): Promise<Fleet> {
  for (const relay of relays) await startAll({ ...fleet, nodes: [relay] });
  return fleet;
}
