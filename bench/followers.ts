import { childrenOf, type PostgresServer, startPostgres, startTcpProxy } from '@halyard/testing';
import { UNLIMITED } from '../packages/server/src/domain/people.ts';
import { type Environment, PLAIN_APPEARANCE } from '../packages/server/src/domain/project.ts';
import { openPostgres } from '../packages/server/src/storage/engines/postgres.ts';
import { migrate } from '../packages/server/src/storage/schema.ts';
import { SqlStore } from '../packages/server/src/storage/store.ts';
import type { Bench } from './bench.ts';
import { bytes, milliseconds, verdict } from './format.ts';
import { pin } from './machine.ts';
import { cpuTimeMs, proportionalBytes } from './process-figures.ts';
import type { Row } from './row.ts';
import { median, percentile } from './statistics.ts';
import { within } from './within.ts';
import { Worker } from './worker.ts';
import type { FollowerCommands, FollowerReport } from './workers/follower-pool.ts';

const FOLLOWERS = 300;
const PROCESSES = 3;
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

/** How soon all must follow again after all of them lost their connection, in milliseconds. */
const RETURN_GOAL_MS = 10_000;

const ACTOR = { name: 'system', permissions: UNLIMITED };

/** How many nodes one PostgreSQL carries: real followers over real sessions, without their HTTP. */
export async function measureFollowers(bench: Bench): Promise<readonly Row[]> {
  bench.say(`followers: ${FOLLOWERS} in ${PROCESSES} processes on one PostgreSQL`);
  const settings = { max_connections: String(2 * FOLLOWERS + 50), shared_buffers: '128MB' };
  await using server = await startPostgres({ settings });
  await pin(bench.machine, server.pid, 'server');
  const url = await server.createDatabase();
  const change = await openWriter(url);
  await using pools = await startPools(bench);
  const alone = await measureAlone(bench, url, change.write);
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
    const phase = await runPhase({ server, pools: pools.list, write: change.write }, perSecond, seconds);
    if (perSecond === 0) rows.push(idleRow(phase, alone));
    else rows.push(changeRow(phase, perSecond, alone));
  }
  rows.push(await measureReturn('every session ended at once', server, pools.list, () => terminate(server)));
  rows.push(await measureReturn('the server restarted', server, pools.list, () => server.restart('fast')));
  await Promise.all(pools.list.map((pool) => pool.ask('close', null)));
  await change.close();
  return rows;
}

type Pool = Worker<FollowerCommands>;

async function startPools({ machine }: Bench) {
  const list: Pool[] = [];
  for (let index = 0; index < PROCESSES; index++)
    list.push(await Worker.start<FollowerCommands>(machine, 'follower-pool.ts', 'load'));
  const dispose = async () => {
    for (const pool of list) await pool[Symbol.asyncDispose]();
  };
  return { list, [Symbol.asyncDispose]: dispose };
}

/** Fills the database, and changes one flag of it at a time. */
async function openWriter(url: string) {
  const database = await openPostgres({ url, poolSize: 1 });
  await migrate(database);
  const store = new SqlStore(database);
  const project = { id: crypto.randomUUID(), name: 'bench', createdAt: Date.now() };
  const environment: Environment = {
    ...{ id: crypto.randomUUID(), projectId: project.id, name: 'production' },
    ...{ revision: 0, createdAt: Date.now(), ...PLAIN_APPEARANCE },
  };
  const flag = { projectId: project.id, description: '', tags: [], owner: '', createdAt: Date.now() };
  await store.commit(ACTOR, async (transaction) => {
    await transaction.insertProject(project);
    await transaction.insertEnvironment(environment);
    for (let index = 0; index < FLAGS; index++) await transaction.putFlag({ ...flag, key: `flag-${index}` });
  });
  let serial = 0;
  return {
    write: async (): Promise<Written> => {
      serial += 1;
      const state = JSON.stringify({ enabled: true, value: serial });
      const begunAt = now();
      const { seq = 0 } = await store.commit(ACTOR, (transaction) =>
        transaction.changeStates(environment, [[`flag-${serial % FLAGS}`, state]]),
      );
      return { seq, begunAt, committedAt: now() };
    },
    close: () => database.close(),
  };
}

interface Written {
  readonly seq: number;
  readonly begunAt: number;
  /** When the commit was answered. */
  readonly committedAt: number;
}

/** One follower: what it costs by itself, and how many bytes it is sent. */
interface Alone {
  readonly slowestMs: number;
  readonly idleBytesPerSecond: number;
  readonly bytesPerChange: number;
}

async function measureAlone(bench: Bench, url: string, write: () => Promise<Written>): Promise<Alone> {
  const address = new URL(url);
  const proxy = await startTcpProxy({ port: Number(address.port) });
  address.port = String(proxy.port);
  await using pool = await Worker.start<FollowerCommands>(bench.machine, 'follower-pool.ts', 'load');
  await pool.ask('start', { url: address.href, count: 1 });
  await Bun.sleep(1_000);
  const [idleFrom, idleSeconds, count] = [proxy.passedBytes, 5, 50];
  await Bun.sleep(idleSeconds * 1_000);
  const idleBytesPerSecond = (proxy.passedBytes - idleFrom) / idleSeconds;
  const [from, begunAt] = [proxy.passedBytes, now()];
  const written: Written[] = [];
  for (let index = 0; index < count; index++) {
    written.push(await write());
    await Bun.sleep(20);
  }
  const delays = delaysOf(written, [await takeAll(pool, count)]);
  const heartbeats = ((now() - begunAt) / 1_000) * idleBytesPerSecond;
  const bytesPerChange = (proxy.passedBytes - from - heartbeats) / count;
  await pool.ask('close', null);
  await proxy.close();
  return { slowestMs: median(delays.map(({ slowest }) => slowest)), idleBytesPerSecond, bytesPerChange };
}

interface Stage {
  readonly server: PostgresServer;
  readonly pools: readonly Pool[];
  readonly write: () => Promise<Written>;
}

interface Phase {
  readonly delays: readonly Delay[];
  readonly commitMs: number;
  readonly changes: number;
  /** Processor time of the server and of one follower, in milliseconds per second. */
  readonly serverCpu: number;
  readonly followerCpu: number;
}

async function runPhase({ server, pools, write }: Stage, perSecond: number, seconds: number): Promise<Phase> {
  const cpu = () => ({
    server: sum(serverPids(server).map(cpuTimeMs)),
    followers: sum(pools.map(({ pid }) => cpuTimeMs(pid))),
  });
  const before = cpu();
  const begunAt = now();
  const written: Written[] = [];
  for (let index = 0; index < perSecond * seconds; index++) {
    await Bun.sleep(Math.max(0, begunAt + (index * 1_000) / perSecond - now()));
    written.push(await write());
  }
  await Bun.sleep(Math.max(0, begunAt + seconds * 1_000 - now()));
  const share = FOLLOWERS / PROCESSES;
  const reports = await Promise.all(pools.map((pool) => takeAll(pool, written.length * share)));
  const after = cpu();
  const lasted = (now() - begunAt) / 1_000;
  return {
    delays: delaysOf(written, reports),
    commitMs: written.length === 0 ? 0 : median(written.map((each) => each.committedAt - each.begunAt)),
    changes: written.length,
    serverCpu: (after.server - before.server) / lasted,
    followerCpu: (after.followers - before.followers) / lasted / FOLLOWERS,
  };
}

/** Asks a pool until its followers have applied so many rows together. */
async function takeAll(pool: Pool, rows: number): Promise<FollowerReport['applied']> {
  const all: Record<number, number[]> = {};
  const isComplete = async () => {
    for (let count = 0; count < rows; ) {
      const { applied } = await pool.ask('take', null);
      for (const [seq, times] of Object.entries(applied)) {
        all[Number(seq)] = [...(all[Number(seq)] ?? []), ...times];
        count += times.length;
      }
      if (count < rows) await Bun.sleep(50);
    }
  };
  await within(isComplete(), 'every change at every follower');
  return all;
}

interface Delay {
  readonly middle: number;
  readonly slowest: number;
}

/**
 * From sending a change until the middle and the slowest follower had applied it. Not from its answer: followers are woken
 * before that, and on a busy server have the change earlier.
 */
function delaysOf(written: readonly Written[], reports: readonly FollowerReport['applied'][]): Delay[] {
  return written.map(({ seq, begunAt }) => {
    const delays = reports.flatMap((applied) => applied[seq] ?? []).map((at) => at - begunAt);
    return { middle: median(delays), slowest: Math.max(...delays) };
  });
}

/** Makes every follower lose the log, and waits until all follow it again. */
async function measureReturn(
  what: string,
  server: PostgresServer,
  pools: readonly Pool[],
  harm: () => Promise<void>,
): Promise<Row> {
  await Promise.all(pools.map((pool) => pool.ask('take', null)));
  await harm();
  const harmedAt = now();
  const live: number[] = [];
  let failedAttempts = 0;
  const isComplete = async () => {
    while (live.length < FOLLOWERS) {
      await Bun.sleep(100);
      for (const report of await Promise.all(pools.map((pool) => pool.ask('take', null)))) {
        live.push(...report.live);
        failedAttempts += report.failedAttempts;
      }
    }
  };
  await within(isComplete(), 'the return of every follower');
  const delays = live.map((at) => at - harmedAt);
  const slowest = Math.max(...delays);
  return {
    what: `${what}: until ${FOLLOWERS} followers were current again`,
    measured: `median ${milliseconds(Math.max(0, median(delays)))}, slowest ${milliseconds(slowest)} (${await connections(server)} connections, ${failedAttempts} attempts refused)`,
    reference: '',
    ratio: '',
    goal: `slowest < ${RETURN_GOAL_MS / 1_000} s`,
    verdict: verdict(slowest < RETURN_GOAL_MS),
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

function changeRow(phase: Phase, perSecond: number, alone: Alone): Row {
  const slowest = phase.delays.map((delay) => delay.slowest);
  const middle = phase.delays.map((delay) => delay.middle);
  const worst = percentile(slowest, 0.95);
  return {
    what: `${perSecond} changes a second: from sending it to ${FOLLOWERS} followers`,
    measured: `middle one ${milliseconds(median(middle))}, slowest ${milliseconds(median(slowest))} (p95 ${milliseconds(worst)}); server ${milliseconds(phase.serverCpu)} CPU a second, answered after ${milliseconds(phase.commitMs)}, ${bytes(alone.bytesPerChange * FOLLOWERS)} a change`,
    reference: `one follower: ${milliseconds(alone.slowestMs)}`,
    ratio: '',
    goal: perSecond === 1 ? `slowest < ${GOAL_MS} ms` : '',
    verdict: perSecond === 1 ? verdict(worst < GOAL_MS) : '',
  };
}

function row(what: string, measured: string): Row {
  return { what, measured, reference: '', ratio: '', goal: '', verdict: '' };
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + (Number.isNaN(figure) ? 0 : figure), 0);
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
