import { type StartNodeOptions, startPostgres, temporaryFolder } from '@halyard/testing';
import { type Bench, PATIENCE_MS } from './bench.ts';
import { delaysAt, type TimedChange, timeChanges } from './changes.ts';
import { spread } from './format.ts';
import { openFilled } from './node.ts';
import type { ChangeRequest } from './raw-request.ts';
import { openArrivals } from './raw-stream.ts';
import { answersOf, frameOf, startBareStreams } from './references.ts';
import { type Row, rowOf } from './row.ts';
import type { SubjectStream } from './running.ts';
import { median, percentile } from './statistics.ts';
import { Worker } from './worker.ts';
import type { BareCommitCommands } from './workers/bare-commits.ts';

const SMALL = 26;
const LARGE = 1_000;
const PLAN = { warmUp: 50, count: 500 };
/** As people make them: each after a pause. */
const PAUSE_MS = 200;
const PAUSED = { warmUp: 5, count: 50, pauseMs: PAUSE_MS };

const COMMIT = 'a bare commit';
const LOOP = 'a loop over bare Bun.serve streams';

/** How long a change takes, the write included, until its frame begins to arrive on one stream; on each engine. */
export async function measurePropagation(bench: Bench): Promise<readonly Row[]> {
  await using bare = new Worker<BareCommitCommands>(bench.machine, 'bare-commits.ts', 'server');
  using folder = temporaryFolder();
  bench.say('propagation: on SQLite');
  const { count } = PLAN;
  const file = { sqlite: folder.file('bare.db') };
  const rows = await measureSqlite(bench, {
    commits: await bare.ask('times', { place: file, count }),
    pausedCommits: await bare.ask('times', { place: file, count: PAUSED.count, pauseMs: PAUSE_MS }),
  });

  bench.say('propagation: on PostgreSQL');
  await using server = await startPostgres({ settings: { track_commit_timestamp: 'on' } });
  const place = { postgres: await server.createDatabase() };
  const commits = await bare.ask('times', { place, count });
  const databaseUrl = await server.createDatabase();
  const { changes } = await measureNode(bench, SMALL, { databaseUrl });

  // PostgreSQL notes when it has committed, to the microsecond. The log of SQLite has whole milliseconds, too few for this.
  const text = `SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 * 1000 AS at
    FROM change_log WHERE kind = 'flags.changed' ORDER BY seq DESC LIMIT ${changes.length}`;
  const logged = (await server.query<{ at: number }>(text, databaseUrl)).reverse();
  const committed = changes.map(({ arrivedAt }, index) => {
    const sentAt = (logged[index]?.at ?? Number.NaN) - performance.timeOrigin;
    return { sentAt, arrivedAt };
  });
  const [from, to] = ['PostgreSQL: from', 'to the first byte of its frame'];
  return [
    ...rows,
    propagationRow(`${from} the commit of a change ${to}`, committed, [COMMIT, commits], { p99Ms: 10 }),
    propagationRow(`${from} sending a change ${to}`, changes, [COMMIT, commits], { p50Ms: 4, p99Ms: 15 }),
  ];
}

/** Beside bare commits, in milliseconds: the machine itself is slower after a pause. */
async function measureSqlite(
  bench: Bench,
  {
    commits,
    pausedCommits,
  }: { readonly commits: readonly number[]; readonly pausedCommits: readonly number[] },
): Promise<Row[]> {
  const small = await measureNode(bench, SMALL);
  const large = await measureNode(bench, LARGE);
  await using loop = await startBareStreams(bench.machine, { frame: large.frame });
  const floor = delaysAt(0, await measureChanges(loop.stream, PLAN));
  const pausedFloor = delaysAt(0, await measureChanges(loop.stream, PAUSED));
  const what = 'SQLite: from sending a change to the first byte of its frame';
  const paused = `${what}, each after ${PAUSE_MS} ms without one`;
  const before = PLAN.warmUp + PLAN.count;
  return [
    propagationRow(what, small.changes, [COMMIT, commits], { p50Ms: 1.5, p99Ms: 5 }),
    propagationRow(`${paused}, new node`, small.paused, [`${COMMIT} after as long`, pausedCommits], {}),
    propagationRow(
      `${paused}, after ${before} changes in a row`,
      small.pausedLater,
      [`${LOOP} after as long, without a commit`, pausedFloor],
      { p50Ms: 1.5 },
    ),
    propagationRow(`${what} of ${LARGE} flags`, large.changes, [LOOP, floor], { p50Ms: 3 }),
  ];
}

/** Changes with pauses on a new node, changes in a row, and changes with pauses again, once the code is compiled. */
async function measureNode(bench: Bench, flags: number, options: StartNodeOptions = {}) {
  await using node = await openFilled(bench, flags, options);
  const frame = frameOf(await answersOf(node));
  const isPaused = options.databaseUrl === undefined;
  const paused = isPaused ? await measureChanges(node.stream, PAUSED) : [];
  const changes = await measureChanges(node.stream, PLAN);
  return { frame, paused, changes, pausedLater: isPaused ? await measureChanges(node.stream, PAUSED) : [] };
}

let serial = 0;

async function measureChanges(stream: SubjectStream, plan: typeof PLAN) {
  return await timeChanges([await openArrivals(stream)], () => send(stream.change(++serial)), plan);
}

async function send({ url, file: _file, ...init }: ChangeRequest): Promise<void> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error(`a change was answered ${response.status}`);
  await response.arrayBuffer();
}

function propagationRow(
  what: string,
  changes: readonly TimedChange[],
  beside: readonly [string, readonly number[]],
  { p50Ms, p99Ms }: { readonly p50Ms?: number; readonly p99Ms?: number },
): Row {
  const delays = delaysAt(0, changes);
  return rowOf(what, spread, delays, {
    by: median,
    beside,
    goal: {
      ...(p50Ms !== undefined && { [`p50 <= ${p50Ms} ms`]: median(delays) }),
      ...(p99Ms !== undefined && { [`p99 < ${p99Ms} ms`]: percentile(delays, 0.99) }),
    },
  });
}
