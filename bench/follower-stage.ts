import { startTcpProxy } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { milliseconds } from './format.ts';
import { cpuTimeMs } from './process-figures.ts';
import type { Row } from './row.ts';
import { median, sum } from './statistics.ts';
import { within } from './within.ts';
import { Worker } from './worker.ts';
import type { FollowerCommands, FollowerReport, FollowerSource } from './workers/follower-pool.ts';

/** How many followers a measurement has, and in how many processes. */
export const FOLLOWERS = 300;
const PROCESSES = 3;
/** How soon all must follow again after all of them lost their source, in milliseconds. */
const RETURN_GOAL_MS = 10_000;

/** A change that was made. */
export interface Written {
  readonly seq: number;
  readonly begunAt: number;
  /** When the commit was answered. */
  readonly committedAt: number;
}

/** Makes one change. */
export type Write = () => Promise<Written>;

/** A change by `write`, which returns its place in the log. */
export async function timed(write: () => Promise<{ readonly seq?: number }>): Promise<Written> {
  const begunAt = now();
  const { seq = 0 } = await write();
  return { seq, begunAt, committedAt: now() };
}

/** Processes of followers; the followers in them are started later. */
export class Pools implements AsyncDisposable {
  readonly #list: readonly Worker<FollowerCommands>[];

  private constructor(list: readonly Worker<FollowerCommands>[]) {
    this.#list = list;
  }

  static async start({ machine }: Bench, processes = PROCESSES): Promise<Pools> {
    const start = () => Worker.start<FollowerCommands>(machine, 'follower-pool.ts', 'load');
    return new Pools(await Promise.all(Array.from({ length: processes }, start)));
  }

  get pids(): readonly number[] {
    return this.#list.map(({ pid }) => pid);
  }

  /** Starts followers, the same number in each process. Returns the milliseconds until all of them followed. */
  async follow(source: FollowerSource, followers = FOLLOWERS): Promise<number> {
    const startedAt = performance.now();
    const count = followers / this.#list.length;
    await Promise.all(this.#list.map((pool) => pool.ask('start', { ...source, count })));
    const tookMs = performance.now() - startedAt;
    await this.take();
    return tookMs;
  }

  /** What happened since the last question. */
  take(): Promise<readonly FollowerReport[]> {
    return Promise.all(this.#list.map((pool) => pool.ask('take', null)));
  }

  /** Asks until followers have applied so many rows together; returns when, by row. */
  async applied(rows: number): Promise<ReadonlyMap<number, readonly number[]>> {
    const all = new Map<number, number[]>();
    const isComplete = async () => {
      for (let count = 0; count < rows; ) {
        for (const { applied } of await this.take()) {
          for (const [seq, times] of Object.entries(applied)) {
            all.set(Number(seq), [...(all.get(Number(seq)) ?? []), ...times]);
            count += times.length;
          }
        }
        if (count < rows) await Bun.sleep(50);
      }
    };
    await within(isComplete(), 'every change at every follower');
    return all;
  }

  async close(): Promise<void> {
    await Promise.all(this.#list.map((pool) => pool.ask('close', null)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pool of this.#list) await pool[Symbol.asyncDispose]();
  }
}

/** One follower: what it costs by itself, and how many bytes it is sent. */
export interface Alone {
  readonly slowestMs: number;
  readonly idleBytesPerSecond: number;
  readonly bytesPerChange: number;
}

/** Measures one follower of a source. */
export async function measureAlone(bench: Bench, source: FollowerSource, write: Write): Promise<Alone> {
  const address = new URL(source.url);
  const proxy = await startTcpProxy({ port: Number(address.port) });
  address.port = String(proxy.port);
  await using pool = await Pools.start(bench, 1);
  await pool.follow({ ...source, url: address.href }, 1);

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
  const delays = delaysOf(written, await pool.applied(count));
  const heartbeats = ((now() - begunAt) / 1_000) * idleBytesPerSecond;
  const bytesPerChange = (proxy.passedBytes - from - heartbeats) / count;
  await pool.close();
  await proxy.close();
  return { slowestMs: median(delays.map(({ slowest }) => slowest)), idleBytesPerSecond, bytesPerChange };
}

/** What a phase needs. */
export interface Stage {
  /** The processes of what they follow. */
  readonly pids: () => readonly number[];
  readonly pools: Pools;
  readonly write: Write;
}

/** The result of a phase. */
export interface Phase {
  readonly delays: readonly Delay[];
  readonly commitMs: number;
  /** Processor time of the server and of one follower, in milliseconds per second. */
  readonly serverCpu: number;
  readonly followerCpu: number;
}

/** Makes changes at a rate, and waits until every follower has them. */
export async function runPhase(stage: Stage, perSecond: number, seconds: number): Promise<Phase> {
  const { pools, write } = stage;
  // A server process may end during the phase; its time then counts as 0.
  const serverCpu = () => sum(stage.pids().map((pid) => cpuTimeMs(pid) || 0));
  const before = { server: serverCpu(), followers: cpuTimeMs(...pools.pids) };
  const begunAt = now();
  const written: Written[] = [];
  for (let index = 0; index < perSecond * seconds; index++) {
    await Bun.sleep(Math.max(0, begunAt + (index * 1_000) / perSecond - now()));
    written.push(await write());
  }
  await Bun.sleep(Math.max(0, begunAt + seconds * 1_000 - now()));

  const applied = await pools.applied(written.length * FOLLOWERS);
  const lasted = (now() - begunAt) / 1_000;
  return {
    delays: delaysOf(written, applied),
    commitMs: written.length === 0 ? 0 : median(written.map((each) => each.committedAt - each.begunAt)),
    serverCpu: (serverCpu() - before.server) / lasted,
    followerCpu: (cpuTimeMs(...pools.pids) - before.followers) / lasted / FOLLOWERS,
  };
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
function delaysOf(written: readonly Written[], applied: ReadonlyMap<number, readonly number[]>): Delay[] {
  return written.map(({ seq, begunAt }) => {
    const delays = (applied.get(seq) ?? []).map((at) => at - begunAt);
    return { middle: median(delays), slowest: Math.max(...delays) };
  });
}

/** Makes every follower lose the log, and waits until all follow it again. */
export async function measureReturn(what: string, pools: Pools, harm: () => Promise<void>): Promise<Row> {
  await pools.take();
  await harm();
  const harmedAt = now();
  const live: number[] = [];
  let failedAttempts = 0;
  const isComplete = async () => {
    while (live.length < FOLLOWERS) {
      await Bun.sleep(100);
      for (const report of await pools.take()) {
        live.push(...report.live);
        failedAttempts += report.failedAttempts;
      }
    }
  };
  await within(isComplete(), 'the return of every follower');

  const delays = live.map((at) => at - harmedAt);
  const [middle, slowest] = [Math.max(0, median(delays)), Math.max(...delays)];
  return {
    what: `${what}: until ${FOLLOWERS} followers were current again`,
    measured: `median ${milliseconds(middle)}, slowest ${milliseconds(slowest)} (${failedAttempts} attempts failed)`,
    goal: `slowest < ${RETURN_GOAL_MS / 1_000} s`,
    isReached: slowest < RETURN_GOAL_MS,
  };
}

/** Epoch milliseconds with fractions, the same in all processes. */
function now(): number {
  return performance.timeOrigin + performance.now();
}
