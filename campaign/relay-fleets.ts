import {
  lastingPort,
  Management,
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

  const nodeOf = async (name: string, port: number) => {
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
  };
  const origins = [await nodeOf('node-1', port1), await nodeOf('node-2', port2)] as const;
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

async function createRelayToken({ url }: FleetNode, adminToken: string): Promise<string> {
  const { token } = await new Management({ url, adminToken }).createRelayToken('campaign');
  return token;
}

interface RelaySettings {
  readonly upstreamPort: number;
  readonly port: number;
  readonly token: string;
  readonly data: ReturnType<typeof temporaryFolder>;
}

/** A place for a relay, with a link to its upstream that can fail. */
async function relayOf(name: string, { upstreamPort, port, token, data }: RelaySettings): Promise<FleetNode> {
  const proxy = await startTcpProxy({ port: upstreamPort });
  const relay = { upstream: `http://127.0.0.1:${proxy.port}`, token };
  return new FleetNode(name, { proxy, remembers: true, isRelay: true }, (until = 'ready') =>
    startNode({
      relay,
      dataFolder: data.file(name),
      timeoutMs: STARTS_WITHIN_MS,
      until,
      arguments: ['--port', String(port)],
    }),
  );
}

/** Starts the relays of a fleet whose nodes run, in this order: each follows the one before. */
async function startRelays(relays: readonly FleetNode[], fleet: Fleet): Promise<Fleet> {
  for (const relay of relays) await startAll({ ...fleet, nodes: [relay] });
  return fleet;
}
