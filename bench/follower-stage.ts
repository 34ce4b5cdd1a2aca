import { startTcpProxy, within } from '@halyard/testing';
import { type Bench, PATIENCE_MS } from './bench.ts';
import { milliseconds } from './format.ts';
import { cpuTimeMs } from './process-figures.ts';
import { type Row, rowOf } from './row.ts';
import { median, sum } from './statistics.ts';
import { Worker } from './worker.ts';
import type { Applied, FollowerCommands, FollowerSource } from './workers/follower-pool.ts';

/** How many followers a measurement has, and in how many processes. */
export const FOLLOWERS = 300;
const PROCESSES = 3;
/** Makes one change. Returns its place in the log. */
export type Write = () => Promise<{ readonly seq?: number }>;

/** A change that was made. */
interface Written {
  readonly seq: number;
  readonly begunAt: number;
  /** When the commit was answered. */
  readonly committedAt: number;
}

async function timed(write: Write): Promise<Written> {
  const begunAt = now();
  const { seq = 0 } = await write();
  return { seq, begunAt, committedAt: now() };
}

/** What happened to followers. */
interface Happened {
  readonly applied: Applied[];
  /** When each followed the log again. */
  readonly live: number[];
  failedAttempts: number;
}

/** Processes of followers; the followers in them are started later. */
export class Pools implements AsyncDisposable {
  readonly #list: readonly Worker<FollowerCommands>[];

  constructor({ machine }: Bench, processes = PROCESSES) {
    this.#list = Array.from({ length: processes }, () => new Worker(machine, 'follower-pool.ts', 'load'));
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
    await this.forget();
    return tookMs;
  }

  /** Forgets what has happened so far. */
  async forget(): Promise<void> {
    await Promise.all(this.#list.map((pool) => pool.ask('take')));
  }

  /** What happens from the last question on, until it is complete. */
  async await(what: string, isComplete: (so: Happened) => boolean): Promise<Happened> {
    const all: Happened = { applied: [], live: [], failedAttempts: 0 };
    const gather = async () => {
      while (!isComplete(all)) {
        await Bun.sleep(50);
        for (const report of await Promise.all(this.#list.map((pool) => pool.ask('take')))) {
          all.applied.push(...report.applied);
          all.live.push(...report.live);
          all.failedAttempts += report.failedAttempts;
        }
      }
    };
    await within(what, gather(), PATIENCE_MS);
    return all;
  }

  async close(): Promise<void> {
    await Promise.all(this.#list.map((pool) => pool.ask('close')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pool of this.#list) await pool[Symbol.asyncDispose]();
  }
}

/** What one follower costs by itself: how late it is, and the bytes that it is sent. */
export type Alone = Awaited<ReturnType<typeof measureAlone>>;

/** Measures one follower of a source. */
export async function measureAlone(bench: Bench, source: FollowerSource, write: Write) {
  const address = new URL(source.url);
  const proxy = await startTcpProxy({ port: Number(address.port) });
  address.port = String(proxy.port);
  await using pool = new Pools(bench, 1);
  await pool.follow({ ...source, url: address.href }, 1);

  await Bun.sleep(1_000);
  const [idleFrom, idleSeconds, count] = [proxy.passedBytes, 5, 50];
  await Bun.sleep(idleSeconds * 1_000);
  const idleBytesPerSecond = (proxy.passedBytes - idleFrom) / idleSeconds;

  const [from, begunAt] = [proxy.passedBytes, now()];
  const written: Written[] = [];
  for (let index = 0; index < count; index++) {
    written.push(await timed(write));
    await Bun.sleep(20);
  }
  const delays = await delaysOf(written, pool, 1);
  const heartbeats = ((now() - begunAt) / 1_000) * idleBytesPerSecond;
  const bytesPerChange = (proxy.passedBytes - from - heartbeats) / count;
  await pool.close();
  await proxy.close();
  return { slowestMs: median(delays.map(({ slowest }) => slowest)), idleBytesPerSecond, bytesPerChange };
}

/** What is followed: its name in the rows, its processes, and what changes it. */
export interface Stage {
  readonly name: string;
  readonly pids: () => readonly number[];
  readonly write: Write;
}

/** The delays of a phase, and the processor time of the source and of one follower, in milliseconds per second. */
export type Phase = Awaited<ReturnType<typeof runPhase>>;

/** Makes changes at a rate, and waits until every follower has them. */
export async function runPhase(
  { name, pids, write }: Stage,
  pools: Pools,
  perSecond: number,
  seconds: number,
) {
  // A server process may end during the phase; its time then counts as 0.
  const serverCpu = () => sum(pids().map((pid) => cpuTimeMs(pid) || 0));
  const before = { server: serverCpu(), followers: cpuTimeMs(...pools.pids) };
  const begunAt = now();
  const written: Written[] = [];
  for (let index = 0; index < perSecond * seconds; index++) {
    await Bun.sleep(Math.max(0, begunAt + (index * 1_000) / perSecond - now()));
    written.push(await timed(write));
  }
  await Bun.sleep(Math.max(0, begunAt + seconds * 1_000 - now()));

  const delays = await delaysOf(written, pools, FOLLOWERS);
  const lasted = (now() - begunAt) / 1_000;
  return {
    source: name,
    delays,
    commitMs: written.length === 0 ? 0 : median(written.map((each) => each.committedAt - each.begunAt)),
    serverCpu: (serverCpu() - before.server) / lasted,
    followerCpu: (cpuTimeMs(...pools.pids) - before.followers) / lasted / FOLLOWERS,
  };
}

/**
 * From sending a change until the middle and the slowest follower had applied it. Not from its answer: followers are woken
 * before that, and on a busy server have the change earlier.
 */
async function delaysOf(written: readonly Written[], pools: Pools, followers: number) {
  const rows = written.length * followers;
  const { applied } = await pools.await('every change at every follower', (so) => so.applied.length >= rows);
  const bySeq = Map.groupBy(applied, ({ seq }) => seq);
  return written.map(({ seq, begunAt }) => {
    const delays = (bySeq.get(seq) ?? []).map(({ at }) => at - begunAt);
    return { middle: median(delays), slowest: Math.max(...delays) };
  });
}

/** Makes every follower lose the log, and waits until all follow it again. */
export async function measureReturn(what: string, pools: Pools, harm: () => Promise<unknown>): Promise<Row> {
  await pools.forget();
  await harm();
  const harmedAt = now();
  const { live, failedAttempts } = await pools.await(
    'the return of every follower',
    (so) => so.live.length >= FOLLOWERS,
  );

  const delays = live.map((at) => at - harmedAt);
  const slowest = Math.max(...delays);
  return rowOf(
    `${what}: until ${FOLLOWERS} followers were current again`,
    (ms) =>
      `median ${milliseconds(ms)}, slowest ${milliseconds(slowest)} (${failedAttempts} attempts failed)`,
    Math.max(0, median(delays)),
    { goal: { 'slowest < 10 s': slowest } },
  );
}

/** Epoch milliseconds with fractions, the same in all processes. */
function now(): number {
  return performance.timeOrigin + performance.now();
}
