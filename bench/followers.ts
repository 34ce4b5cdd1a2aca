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
  type Write,
} from './follower-stage.ts';
import { bytes, mebibytes, milliseconds } from './format.ts';
import { pin } from './machine.ts';
import { ENVIRONMENT, type FilledNode, flagKey, openFilled, PROJECT } from './node.ts';
import { proportionalBytes } from './process-figures.ts';
import { type Row, rowOf } from './row.ts';
import { median, percentile } from './statistics.ts';

const FLAGS = 100;

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
  const before = await connections(server);
  const stage = {
    name: 'server',
    pids: () => [server.pid, ...childrenOf(server.pid)],
    write: writerOf(node),
  };
  const alone = await measureAlone(bench, { url }, stage.write);

  await using pools = new Pools(bench);
  const startMs = await pools.follow({ url });
  const peak = (await connections(server)) - before;
  // Connections for snapshots are closed after ten idle seconds.
  await Bun.sleep(11_000);
  const idle = (await connections(server)) - before;
  const memory = mebibytes(proportionalBytes(stage.pids()));
  const rows = [
    rowOf(
      `${FOLLOWERS} followers of one PostgreSQL: connections, memory of the server`,
      (count) => `${count} connections (${peak} while starting in ${milliseconds(startMs)}), ${memory}`,
      idle,
    ),
    quietRow('followers', 'a follower', await runPhase(stage, pools, 0, 8), alone),
  ];
  for (const [perSecond, seconds] of [
    [1, 12],
    [5, 8],
    [10, 6],
  ] as const) {
    const phase = await runPhase(stage, pools, perSecond, seconds);
    rows.push(changeRow('nodes', perSecond, phase, alone));
  }

  const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'halyard'`;
  rows.push(await measureReturn('every session ended at once', pools, () => server.query(terminate)));
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
  const stage = { name: 'node', pids: () => node.pids, write: writerOf(node) };
  const alone = await measureAlone(bench, source, stage.write);

  await using pools = new Pools(bench);
  const startMs = await pools.follow(source);
  const quiet = quietRow('relays of one node', 'a relay', await runPhase(stage, pools, 0, 6), alone);
  const rows = [{ ...quiet, measured: `${quiet.measured}; all connected in ${milliseconds(startMs)}` }];
  for (const perSecond of [1, 10]) {
    const phase = await runPhase(stage, pools, perSecond, 6);
    rows.push(changeRow('relays of one node', perSecond, phase, alone));
  }
  return rows;
}

function writerOf({ management }: FilledNode): Write {
  let serial = 0;
  return () => {
    serial += 1;
    const state = { enabled: true, value: serial };
    return management.putState(PROJECT, ENVIRONMENT, flagKey(serial % FLAGS), state);
  };
}

async function connections(server: PostgresServer): Promise<number> {
  const [row] = await server.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'halyard'`,
  );
  return row?.count ?? 0;
}

function quietRow(what: string, follower: string, phase: Phase, alone: Alone): Row {
  const sent = bytes(alone.idleBytesPerSecond * FOLLOWERS);
  return rowOf(
    `${FOLLOWERS} ${what} without changes: processor time a second`,
    (ms) =>
      `${phase.source} ${milliseconds(ms)}, ${follower} ${milliseconds(phase.followerCpu)}; ${sent} a second`,
    phase.serverCpu,
  );
}

/** At one change a second the slowest must have it within a second: a revoked key works for so long. */
function changeRow(what: string, perSecond: number, phase: Phase, alone: Alone): Row {
  const slowest = phase.delays.map((delay) => delay.slowest);
  const worst = percentile(slowest, 0.95);
  const cost = `${phase.source} ${milliseconds(phase.serverCpu)} CPU a second`;
  const answered = `answered after ${milliseconds(phase.commitMs)}`;
  const row = rowOf(
    `${perSecond} changes a second: from sending one to ${FOLLOWERS} ${what}`,
    (ms) =>
      `middle one ${milliseconds(ms)}, slowest ${milliseconds(median(slowest))} (p95 ${milliseconds(worst)}); ` +
      `${cost}, ${answered}, ${bytes(alone.bytesPerChange * FOLLOWERS)} a change`,
    median(phase.delays.map((delay) => delay.middle)),
    perSecond === 1 ? { goal: { 'slowest < 1000 ms': worst } } : {},
  );
  return { ...row, reference: `one follower: ${milliseconds(alone.slowestMs)}` };
}
