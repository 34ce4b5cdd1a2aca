import type { TcpProxy } from '@halyard/testing';
import type { Chance } from '../simulation/chance.ts';
import { now } from './clock.ts';
import type { Fleet, FleetNode } from './fleet-node.ts';
import { BALANCER_FAULTS, STANDBY_FAULTS, TOKEN_FAULTS } from './follow-faults.ts';
import { endKeyWithOpenStreams } from './key-faults.ts';
import { PUBLISHED_FAULTS } from './published-faults.ts';
import type { Recorder } from './recorder.ts';
import { WORKER_FAULTS } from './worker-faults.ts';
import type { World } from './world.ts';

/** One kind of trouble: it begins, lasts and ends within `run`. */
export interface Fault {
  readonly kind: string;
  readonly run: (world: World, random: Chance) => Promise<void>;
}

/** Trouble any fleet can have. */
const NODE_FAULTS: readonly Fault[] = [
  {
    kind: 'node killed and started again',
    run: async ({ fleet }, random) => {
      const node = random.pick(fleet.nodes);
      await node.kill();
      await Bun.sleep(random.between(0, 2_000));
      await node.start();
    },
  },
  {
    kind: 'node frozen',
    run: async ({ fleet }, random) => {
      const { process } = random.pick(fleet.nodes);
      process.pause();
      await Bun.sleep(random.between(300, 6_000));
      process.resume();
    },
  },
  {
    kind: 'rolling restart',
    run: async ({ fleet, recorder }) => {
      for (const node of fleet.nodes) await restart(node, fleet, recorder);
    },
  },
  { kind: 'key revoked', run: (world, random) => endKeyWithOpenStreams(world, random, 'revoked') },
  { kind: 'key expired', run: (world, random) => endKeyWithOpenStreams(world, random, 'expired') },
];

/** Restarts a node whose source is there: all have recovered from what came before. */
async function restart(node: FleetNode, { nodes }: Fleet, recorder: Recorder): Promise<void> {
  await Promise.all(nodes.map(({ process }) => process.readiness(200, 60_000)));

  await node.stop();
  const stoppedAt = now();
  await node.start();
  recorder.restart({ node: node.name, stoppedAt, readyAt: now() });
}

/** Trouble with a database server. */
const SERVER_FAULTS: readonly Fault[] = [
  {
    kind: 'database restarted (fast)',
    run: async ({ fleet }, random) => {
      await postgresOf(fleet).stop('fast');
      await Bun.sleep(random.between(0, 3_000));
      await postgresOf(fleet).start();
    },
  },
  {
    kind: 'database restarted (immediate)',
    run: async ({ fleet }, random) => {
      await postgresOf(fleet).stop('immediate');
      await Bun.sleep(random.between(0, 3_000));
      await postgresOf(fleet).start();
    },
  },
  {
    kind: 'database killed',
    run: async ({ fleet }, random) => {
      await postgresOf(fleet).kill9();
      await Bun.sleep(random.between(0, 3_000));
      await postgresOf(fleet).start();
    },
  },
  { kind: 'all sessions terminated', run: (world) => terminate(world, "application_name LIKE 'node-%'") },
  {
    kind: 'sessions of one node terminated',
    run: (world, random) => terminate(world, `application_name = '${random.pick(world.fleet.nodes).name}'`),
  },
];

/** Trouble with the standby of a database. */
const FAILOVER_FAULTS: readonly Fault[] = [
  {
    kind: 'failover to the standby',
    run: async ({ fleet }, random) => fleet.pair?.failOver(random.between(0, 3_000)),
  },
  {
    kind: 'standby restarted',
    run: async ({ fleet }, random) => {
      await fleet.pair?.standby.stop('fast');
      await Bun.sleep(random.between(0, 3_000));
      await fleet.pair?.standby.start();
    },
  },
];

/** Trouble with servers that Patroni keeps. */
const CLUSTER_FAULTS: readonly Fault[] = [
  { kind: 'planned switch-over', run: async ({ fleet }) => fleet.cluster?.switchOver() },
  { kind: 'leader crashed', run: async ({ fleet }) => fleet.cluster?.crashLeader() },
  {
    kind: 'leader killed with its keeper',
    run: async ({ fleet }, random) => fleet.cluster?.killLeader(random.between(0, 30_000)),
  },
  {
    kind: 'leader cut off',
    run: async ({ fleet }, random) => fleet.cluster?.isolateLeader(random.between(1_000, 40_000)),
  },
];

/** Trouble with the pooler in front of a database. */
const POOLER_FAULTS: readonly Fault[] = [
  {
    kind: 'pooler killed and started again',
    run: async ({ fleet }, random) => {
      await fleet.pooler?.kill();
      await Bun.sleep(random.between(0, 3_000));
      await fleet.pooler?.start();
    },
  },
];

/** Trouble with the network before a database. */
const NETWORK_FAULTS: readonly Fault[] = [
  {
    kind: 'black hole',
    run: async ({ fleet }, random) => {
      const proxy = proxyOf(random.pick(fleet.nodes));
      proxy.blackhole();
      await Bun.sleep(random.between(4_000, 13_000));
      proxy.restore();
    },
  },
  {
    kind: 'short black hole',
    run: async ({ fleet }, random) => {
      const proxy = proxyOf(random.pick(fleet.nodes));
      proxy.blackhole();
      await Bun.sleep(random.between(100, 1_800));
      proxy.restore();
    },
  },
  {
    kind: 'connections reset',
    run: async ({ fleet }, random) => proxyOf(random.pick(fleet.nodes)).reset(),
  },
  {
    kind: 'connections refused',
    run: async ({ fleet }, random) => {
      const proxy = proxyOf(random.pick(fleet.nodes));
      proxy.refuse();
      await Bun.sleep(random.between(500, 4_000));
      proxy.restore();
    },
  },
  {
    kind: 'message cut in the middle',
    run: async ({ fleet }, random) =>
      proxyOf(random.pick(fleet.nodes)).dropAfter(Math.floor(random.between(1, 5_000))),
  },
  {
    kind: 'slow network',
    run: async ({ fleet }, random) => {
      const proxy = proxyOf(random.pick(fleet.nodes));
      proxy.delay(random.between(20, 150));
      await Bun.sleep(random.between(1_000, 4_000));
      proxy.restore();
    },
  },
];

/** Trouble with the links of nodes that can start without their source. */
const LINK_FAULTS: readonly Fault[] = [
  {
    kind: 'started while its source is away',
    run: async ({ fleet }, random) => {
      const node = random.pick(fleet.nodes.filter(({ remembers }) => remembers));
      const proxy = proxyOf(node);
      await (random.between(0, 1) < 0.5 ? node.kill() : node.stop());
      proxy.refuse();
      await node.start('listening');
      await Bun.sleep(random.between(500, 4_000));
      proxy.restore();
      await node.process.readiness(200, 60_000);
    },
  },
  {
    kind: 'restarted over a slow link',
    run: async ({ fleet, recorder }, random) => {
      const node = random.pick(fleet.nodes.filter(({ remembers }) => remembers));
      const proxy = proxyOf(node);
      proxy.delay(random.between(10, 60));
      await restart(node, fleet, recorder);
      proxy.restore();
    },
  },
  linkFault('link cut in the middle of a message', async (proxy, random) =>
    proxy.dropAfter(Math.floor(random.between(1, 5_000))),
  ),
  linkFault('link reset', async (proxy) => proxy.reset()),
  linkFault('link half-closed', async (proxy, random) =>
    proxy.halfClose(random.between(0, 1) < 0.5 ? 'near' : 'far'),
  ),
  linkFault('link silent', async (proxy, random) => {
    proxy.blackhole();
    await Bun.sleep(random.between(100, 9_000));
    proxy.restore();
  }),
  linkFault('link refused', async (proxy, random) => {
    proxy.refuse();
    await Bun.sleep(random.between(300, 4_000));
    proxy.restore();
  }),
  linkFault('link slow', async (proxy, random) => {
    proxy.delay(random.between(20, 300));
    await Bun.sleep(random.between(1_000, 4_000));
    proxy.restore();
  }),
];

function linkFault(kind: string, harm: (proxy: TcpProxy, random: Chance) => Promise<void>): Fault {
  return {
    kind,
    run: async ({ fleet }, random) =>
      harm(proxyOf(random.pick(fleet.nodes.filter(({ remembers }) => remembers))), random),
  };
}

/** The writer's node cannot know what became of its transaction, and must find out before it answers. */
function commitFault(when: Parameters<TcpProxy['cutOn']>[1], kind: string): Fault {
  return {
    kind,
    run: async ({ fleet }, random) => {
      const proxy = proxyOf(random.pick(fleet.nodes));
      for (let round = 0; round < 3; round += 1) {
        // Only a write wakes the followers; its COMMIT comes in the same piece.
        proxy.cutOn(['pg_notify'], when);
        await Bun.sleep(random.between(100, 700));
      }
      proxy.restore();
    },
  };
}

/** Trouble in the middle of a write. */
const COMMIT_FAULTS: readonly Fault[] = [
  commitFault('before', 'COMMIT lost'),
  commitFault('after', 'answer to COMMIT lost'),
  commitFault('ahead', 'COMMIT late'),
];

/** Every fault that can befall this fleet. */
export function faultsOf(fleet: Fleet): readonly Fault[] {
  const ofServer = fleet.postgres === undefined ? [] : SERVER_FAULTS;
  const ofNetwork = fleet.postgres === undefined || fleet.pair !== undefined ? [] : NETWORK_FAULTS;
  // Writes through a pooler do not take the way of the proxy.
  const ofCommit = fleet.pooler === undefined && ofNetwork.length > 0 ? COMMIT_FAULTS : [];
  const ofPair = fleet.pair === undefined ? [] : FAILOVER_FAULTS;
  const ofCluster = fleet.cluster === undefined ? [] : CLUSTER_FAULTS;
  const ofPooler = fleet.pooler === undefined ? [] : POOLER_FAULTS;
  const ofBalancer = fleet.balancer === undefined ? [] : BALANCER_FAULTS;
  const ofToken = fleet.relayToken === undefined ? [] : TOKEN_FAULTS;
  const ofStandby = fleet.standby === undefined ? [] : STANDBY_FAULTS;
  const ofWorkers = fleet.nodes.some(({ workers }) => workers > 1) ? WORKER_FAULTS : [];
  const ofStorage = fleet.storage === undefined ? [] : PUBLISHED_FAULTS;
  const ofLinks = fleet.nodes.some(({ remembers }) => remembers) ? LINK_FAULTS : [];
  return [
    ...ofServer,
    ...ofNetwork,
    ...ofCommit,
    ...ofPair,
    ...ofCluster,
    ...ofPooler,
    ...ofBalancer,
    ...ofToken,
    ...ofStandby,
    ...NODE_FAULTS,
    ...ofWorkers,
    ...ofLinks,
    ...ofStorage,
  ];
}

async function terminate({ fleet, prepare }: World, where: string): Promise<void> {
  const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${where}`;
  await prepare('the end of the sessions', () => postgresOf(fleet).query(sql));
}

function postgresOf(fleet: Fleet): NonNullable<Fleet['postgres']> {
  if (fleet.postgres === undefined) throw new Error('this fleet has no PostgreSQL');
  return fleet.postgres;
}

function proxyOf(node: FleetNode): NonNullable<FleetNode['proxy']> {
  if (node.proxy === undefined) throw new Error('this fleet has no network to its database');
  return node.proxy;
}
