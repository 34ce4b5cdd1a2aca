import { startTcpProxy } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { milliseconds, verdict } from './format.ts';
import { cpuTimeMs } from './process-figures.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { within } from './within.ts';
import { Worker } from './worker.ts';
import type { FollowerCommands, FollowerReport, FollowerSource } from './workers/follower-pool.ts';

/** How many followers a measurement has, and in how many processes. */
export const FOLLOWERS = 300;
export const PROCESSES = 3;

/** How soon all must follow again after all of them lost their source, in milliseconds. */
const RETURN_GOAL_MS = 10_000;

/** A process of followers. */
export type Pool = Worker<FollowerCommands>;

/** Starts the processes; the followers in them are started later. */
export async function startPools({ machine }: Bench) {
  const list: Pool[] = [];
  for (let index = 0; index < PROCESSES; index++)
    list.push(await Worker.start<FollowerCommands>(machine, 'follower-pool.ts', 'load'));
  const dispose = async () => {
    for (const pool of list) await pool[Symbol.asyncDispose]();
  };
  return { list, [Symbol.asyncDispose]: dispose };
}

/** A change that was made. */
export interface Written {
  readonly seq: number;
  readonly begunAt: number;
  /** When the commit was answered. */
  readonly committedAt: number;
}

/** One follower: what it costs by itself, and how many bytes it is sent. */
export interface Alone {
  readonly slowestMs: number;
  readonly idleBytesPerSecond: number;
  readonly bytesPerChange: number;
}

/** Measures one follower of a source. */
export async function measureAlone(
  bench: Bench,
  source: FollowerSource,
  write: () => Promise<Written>,
): Promise<Alone> {
  const address = new URL(source.url);
  const proxy = await startTcpProxy({ port: Number(address.port) });
  address.port = String(proxy.port);
  await using pool = await Worker.start<FollowerCommands>(bench.machine, 'follower-pool.ts', 'load');
  await pool.ask('start', { ...source, url: address.href, count: 1 });
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

/** What a phase needs. */
export interface Stage {
  /** The processes of what they follow. */
  readonly pids: () => readonly number[];
  readonly pools: readonly Pool[];
  readonly write: () => Promise<Written>;
}

/** The result of a phase. */
export interface Phase {
  readonly delays: readonly Delay[];
  readonly commitMs: number;
  readonly changes: number;
  /** Processor time of the server and of one follower, in milliseconds per second. */
  readonly serverCpu: number;
  readonly followerCpu: number;
}

/** Makes changes at a rate, and waits until every follower has them. */
export async function runPhase(
  { pids, pools, write }: Stage,
  perSecond: number,
  seconds: number,
): Promise<Phase> {
  const cpu = () => ({
    server: sum(pids().map(cpuTimeMs)),
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

/** How late a change arrived. */
export interface Delay {
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
export async function measureReturn(
  what: string,
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
    measured: `median ${milliseconds(Math.max(0, median(delays)))}, slowest ${milliseconds(slowest)} (${failedAttempts} attempts failed)`,
    reference: '',
    ratio: '',
    goal: `slowest < ${RETURN_GOAL_MS / 1_000} s`,
    verdict: verdict(slowest < RETURN_GOAL_MS),
  };
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + (Number.isNaN(figure) ? 0 : figure), 0);
}

/** Epoch milliseconds with fractions, the same in all processes. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
