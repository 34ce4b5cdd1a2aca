import { childrenOf, type PostgresServer, startNode, startPostgres } from '@halyard/testing';
import { type Environment, PLAIN_APPEARANCE, PLAIN_DETAILS } from '../packages/server/src/domain/project.ts';
import { UNLIMITED } from '../packages/server/src/domain/rights.ts';
import { insertEnvironment } from '../packages/server/src/nouns/environments/environment-table.ts';
import { storeFlag } from '../packages/server/src/nouns/flags/flag-table.ts';
import { insertProject } from '../packages/server/src/nouns/projects/project-table.ts';
import { changeStates } from '../packages/server/src/nouns/states/change-states.ts';
import { openPostgres } from '../packages/server/src/storage/engines/postgres.ts';
import { migrate } from '../packages/server/src/storage/schema.ts';
import { SqlStore } from '../packages/server/src/storage/store.ts';
import type { Bench } from './bench.ts';
import { ENVIRONMENT, fillNode, flagKey, PROJECT } from './fixture.ts';
import {
  type Alone,
  FOLLOWERS,
  measureAlone,
  measureReturn,
  now,
  type Phase,
  PROCESSES,
  runPhase,
  startPools,
  type Written,
} from './follower-stage.ts';
import { bytes, milliseconds, verdict } from './format.ts';
import { pin } from './machine.ts';
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

const ACTOR = { name: 'system', permissions: UNLIMITED };

/** How many followers one source carries: nodes on one PostgreSQL, and relays of one node. */
export async function measureFollowers(bench: Bench): Promise<readonly Row[]> {
  return [...(await measureNodes(bench)), ...(await measureRelays(bench))];
}

/** Real followers over real sessions with PostgreSQL, without their HTTP. */
async function measureNodes(bench: Bench): Promise<readonly Row[]> {
  bench.say(`followers: ${FOLLOWERS} in ${PROCESSES} processes on one PostgreSQL`);
  const settings = { max_connections: String(2 * FOLLOWERS + 50), shared_buffers: '128MB' };
  await using server = await startPostgres({ settings });
  await pin(bench.machine, server.pid, 'server');
  const url = await server.createDatabase();
  const change = await openWriter(url);
  await using pools = await startPools(bench);
  const alone = await measureAlone(bench, { url }, change.write);

  const startedAt = performance.now();
  const share = FOLLOWERS / PROCESSES;
  await Promise.all(pools.list.map((pool) => pool.ask('start', { url, count: share })));
  const startMs = performance.now() - startedAt;
  const peak = await connections(server);
  await Promise.all(pools.list.map((pool) => pool.ask('take', null)));
  // Connections for snapshots are closed after ten idle seconds.
  await Bun.sleep(11_000);
  const idle = await connections(server);
  const memory = proportionalBytes(serverPids(server));

  const rows: Row[] = [
    row(
      `${FOLLOWERS} followers of one PostgreSQL: connections, memory of the server`,
      `${idle} connections (${peak} while starting in ${milliseconds(startMs)}), ${(memory / 2 ** 20).toFixed(0)} MiB`,
    ),
  ];

  for (const { perSecond, seconds } of RATES) {
    const phase = await runPhase(
      { pids: () => serverPids(server), pools: pools.list, write: change.write },
      perSecond,
      seconds,
    );
    if (perSecond === 0) rows.push(idleRow(phase, alone));
    else rows.push(changeRow(phase, { perSecond, alone, what: 'nodes', source: 'server' }));
  }

  rows.push(await measureReturn('every session ended at once', pools.list, () => terminate(server)));
  rows.push(await measureReturn('the server restarted', pools.list, () => server.restart('fast')));
  await Promise.all(pools.list.map((pool) => pool.ask('close', null)));
  await change.close();
  return rows;
}

/** Real followers over the log of one node, without their HTTP. */
async function measureRelays(bench: Bench): Promise<readonly Row[]> {
  bench.say(`followers: ${FOLLOWERS} relays in ${PROCESSES} processes of one node`);
  const node = await startNode();
  try {
    await pin(bench.machine, node.pid, 'server');
    const { management } = await fillNode(node, FLAGS);
    const { token } = await management.createRelayToken('bench');

    let serial = 0;
    const write = async (): Promise<Written> => {
      serial += 1;
      const begunAt = now();
      const state = { enabled: true, value: serial };
      const { seq = 0 } = await management.putState(PROJECT, ENVIRONMENT, flagKey(serial % FLAGS), state);
      return { seq, begunAt, committedAt: now() };
    };

    const source = { url: node.url, token };
    const alone = await measureAlone(bench, source, write);
    await using pools = await startPools(bench);

    const startedAt = performance.now();
    const count = FOLLOWERS / PROCESSES;
    await Promise.all(pools.list.map((pool) => pool.ask('start', { ...source, count })));
    const startMs = performance.now() - startedAt;
    await Promise.all(pools.list.map((pool) => pool.ask('take', null)));
    const stage = { pids: () => [node.pid], pools: pools.list, write };
    const idle = await runPhase(stage, 0, 6);

    const rows: Row[] = [
      row(
        `${FOLLOWERS} relays of one node without changes: processor time a second`,
        `node ${milliseconds(idle.serverCpu)}, a relay ${milliseconds(idle.followerCpu)}; ${bytes(alone.idleBytesPerSecond * FOLLOWERS)} a second; all connected in ${milliseconds(startMs)}`,
      ),
    ];
    for (const perSecond of [1, 10]) {
      const phase = await runPhase(stage, perSecond, 6);
      rows.push(changeRow(phase, { perSecond, alone, what: 'relays of one node', source: 'node' }));
    }
    return rows;
  } finally {
    await node.stop();
  }
}

/** Fills the database, and changes one flag of it at a time. */
async function openWriter(url: string) {
  const database = await openPostgres({ url, poolSize: 1 });
  await migrate(database);
  const store = new SqlStore(database);

  const project = { id: crypto.randomUUID(), name: 'bench', createdAt: Date.now() };
  const environment: Environment = {
    id: crypto.randomUUID(),
    projectId: project.id,
    name: 'production',
    revision: 0,
    createdAt: Date.now(),
    ...PLAIN_APPEARANCE,
  };
  const flag = { ...PLAIN_DETAILS, projectId: project.id, createdAt: Date.now() };

  await store.commit(ACTOR, async (transaction) => {
    await insertProject(transaction, project);
    await insertEnvironment(transaction, environment);
    for (let index = 0; index < FLAGS; index++)
      await storeFlag(transaction, { ...flag, key: `flag-${index}` });
  });

  let serial = 0;
  return {
    write: async (): Promise<Written> => {
      serial += 1;
      const state = JSON.stringify({ enabled: true, value: serial });
      const begunAt = now();
      const { seq = 0 } = await store.commit(ACTOR, (transaction) =>
        changeStates(transaction, environment, [[`flag-${serial % FLAGS}`, state]]),
      );
      return { seq, begunAt, committedAt: now() };
    },
    close: () => database.close(),
  };
}

async function terminate(server: PostgresServer): Promise<void> {
  await server.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'halyard'`,
  );
}

async function connections(server: PostgresServer): Promise<number> {
  const [count] = await server.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'halyard'`,
  );
  return count?.count ?? 0;
}

function serverPids(server: PostgresServer): readonly number[] {
  return [server.pid, ...childrenOf(server.pid)];
}

function idleRow(phase: Phase, alone: Alone): Row {
  return row(
    `${FOLLOWERS} followers without changes: processor time a second`,
    `server ${milliseconds(phase.serverCpu)}, a follower ${milliseconds(phase.followerCpu)}; ${bytes(alone.idleBytesPerSecond * FOLLOWERS)} a second`,
  );
}

interface ChangeRow {
  readonly perSecond: number;
  readonly alone: Alone;
  readonly what: string;
  readonly source: string;
}

function changeRow(phase: Phase, { perSecond, alone, what, source }: ChangeRow): Row {
  const slowest = phase.delays.map((delay) => delay.slowest);
  const middle = phase.delays.map((delay) => delay.middle);
  const worst = percentile(slowest, 0.95);
  return {
    what: `${perSecond} changes a second: from sending one to ${FOLLOWERS} ${what}`,
    measured: `middle one ${milliseconds(median(middle))}, slowest ${milliseconds(median(slowest))} (p95 ${milliseconds(worst)}); ${source} ${milliseconds(phase.serverCpu)} CPU a second, answered after ${milliseconds(phase.commitMs)}, ${bytes(alone.bytesPerChange * FOLLOWERS)} a change`,
    reference: `one follower: ${milliseconds(alone.slowestMs)}`,
    ratio: '',
    goal: perSecond === 1 ? `slowest < ${GOAL_MS} ms` : '',
    verdict: perSecond === 1 ? verdict(worst < GOAL_MS) : '',
  };
}

function row(what: string, measured: string): Row {
  return { what, measured, reference: '', ratio: '', goal: '', verdict: '' };
}
