import { childrenOf, type PostgresServer, startPostgres } from '@halyard/testing';
import type { Bench } from './bench.ts';
import {
  type Alone,
  FOLLOWERS,
  measureAlone,
  measureReturn,
  type Phase,
  Pools,
  runPhase,
  timed,
} from './follower-stage.ts';
import { bytes, mebibytes, milliseconds } from './format.ts';
import { pin } from './machine.ts';
import { ENVIRONMENT, type FilledNode, flagKey, openFilled, PROJECT } from './node.ts';
import { proportionalBytes } from './process-figures.ts';
import type { Row } from './row.ts';
import { median, percentile } from './statistics.ts';

const FLAGS = 100;

/** Changes a second, and for how many seconds. The first is for comparison with what heartbeats cost. */
const RATES = [
  { perSecond: 0, seconds: 8 },
  { perSecond: 1, seconds: 12 },
  { perSecond: 5, seconds: 8 },
  { perSecond: 10, seconds: 6 },
] as const;

/** How soon the slowest follower must have a change at one a second, in milliseconds: a revoked key works for so long. */
const GOAL_MS = 1_000;

/** How many followers one source carries: nodes on one PostgreSQL, and relays of one node. */
export async function measureFollowers(bench: Bench): Promise<readonly Row[]> {
  return [...(await measureNodes(bench)), ...(await measureRelays(bench))];
}

/** Real followers over real sessions with PostgreSQL, without their HTTP. A node makes the changes. */
async function measureNodes(bench: Bench): Promise<readonly Row[]> {
  bench.say(`followers: ${FOLLOWERS} on one PostgreSQL`);
  const settings = { max_connections: String(2 * FOLLOWERS + 50), shared_buffers: '128MB' };
  await using server = await startPostgres({ settings });
  await pin(bench.machine, server.pid, 'server');
  const url = await server.createDatabase();
  await using node = await openFilled(bench, FLAGS, { databaseUrl: url });
  const write = writerOf(node);
  const before = await connections(server);
  const alone = await measureAlone(bench, { url }, write);

  await using pools = await Pools.start(bench);
  const startMs = await pools.follow({ url });
  const peak = (await connections(server)) - before;
  // Connections for snapshots are closed after ten idle seconds.
  await Bun.sleep(11_000);
  const idle = (await connections(server)) - before;
  const pids = () => [server.pid, ...childrenOf(server.pid)];
  const rows: Row[] = [
    {
      what: `${FOLLOWERS} followers of one PostgreSQL: connections, memory of the server`,
      measured: `${idle} connections (${peak} while starting in ${milliseconds(startMs)}), ${mebibytes(proportionalBytes(pids()))}`,
    },
  ];

  for (const { perSecond, seconds } of RATES) {
    const phase = await runPhase({ pids, pools, write }, perSecond, seconds);
    if (perSecond > 0) rows.push(changeRow(phase, perSecond, alone, 'nodes'));
    else {
      rows.push({
        what: `${FOLLOWERS} followers without changes: processor time a second`,
        measured: `server ${milliseconds(phase.serverCpu)}, a follower ${milliseconds(phase.followerCpu)}; ${bytes(alone.idleBytesPerSecond * FOLLOWERS)} a second`,
      });
    }
  }

  const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'halyard'`;
  rows.push(
    await measureReturn(
      'every session ended at once',
      pools,
      async () => void (await server.query(terminate)),
    ),
  );
  rows.push(await measureReturn('the server restarted', pools, () => server.restart('fast')));
  await pools.close();
  return rows;
}

/** Real followers over the log of one node, without their HTTP. */
async function measureRelays(bench: Bench): Promise<readonly Row[]> {
  bench.say(`followers: ${FOLLOWERS} relays of one node`);
  await using node = await openFilled(bench, FLAGS);
  const { token } = await node.management.createRelayToken('bench');
  const source = { url: node.url, token };
  const write = writerOf(node);
  const alone = await measureAlone(bench, source, write);

  await using pools = await Pools.start(bench);
  const startMs = await pools.follow(source);
  const stage = { pids: () => node.pids, pools, write };
  const idle = await runPhase(stage, 0, 6);
  const rows: Row[] = [
    {
      what: `${FOLLOWERS} relays of one node without changes: processor time a second`,
      measured: `node ${milliseconds(idle.serverCpu)}, a relay ${milliseconds(idle.followerCpu)}; ${bytes(alone.idleBytesPerSecond * FOLLOWERS)} a second; all connected in ${milliseconds(startMs)}`,
    },
  ];
  for (const perSecond of [1, 10]) {
    rows.push(changeRow(await runPhase(stage, perSecond, 6), perSecond, alone, 'relays of one node'));
  }
  return rows;
}

function writerOf({ management }: FilledNode) {
  let serial = 0;
  return () =>
    timed(() => {
      serial += 1;
      const state = { enabled: true, value: serial };
      return management.putState(PROJECT, ENVIRONMENT, flagKey(serial % FLAGS), state);
    });
}

async function connections(server: PostgresServer): Promise<number> {
  const [row] = await server.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'halyard'`,
  );
  return row?.count ?? 0;
}

function changeRow(phase: Phase, perSecond: number, alone: Alone, what: 'nodes' | 'relays of one node'): Row {
  const slowest = phase.delays.map((delay) => delay.slowest);
  const middle = median(phase.delays.map((delay) => delay.middle));
  const worst = percentile(slowest, 0.95);
  const cost = `${what === 'nodes' ? 'server' : 'node'} ${milliseconds(phase.serverCpu)} CPU a second`;
  const answered = `answered after ${milliseconds(phase.commitMs)}`;
  return {
    what: `${perSecond} changes a second: from sending one to ${FOLLOWERS} ${what}`,
    measured: `middle one ${milliseconds(middle)}, slowest ${milliseconds(median(slowest))} (p95 ${milliseconds(worst)}); ${cost}, ${answered}, ${bytes(alone.bytesPerChange * FOLLOWERS)} a change`,
    reference: `one follower: ${milliseconds(alone.slowestMs)}`,
    ...(perSecond === 1 && { goal: `slowest < ${GOAL_MS} ms`, isReached: worst < GOAL_MS }),
  };
}
