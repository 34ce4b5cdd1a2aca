import { type StartNodeOptions, startPostgres, temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { spread, times } from './format.ts';
import { openFilled } from './node.ts';
import type { ChangeRequest } from './raw-request.ts';
import { openArrivals } from './raw-stream.ts';
import { answersOf, frameOf, startBareStreams } from './references.ts';
import type { Row } from './row.ts';
import type { SubjectStream } from './running.ts';
import { median, percentile } from './statistics.ts';
import { PATIENCE_MS } from './within.ts';
import { Worker } from './worker.ts';
import type { BareCommitCommands } from './workers/bare-commits.ts';

const SMALL = 26;
const LARGE = 1_000;
const WARM_UP = 50;
const CHANGES = 500;
/** As people make them: so many changes, each after so long a pause. */
const PAUSED = 50;
const PAUSE_MS = 200;

/** A change, on the clock of `performance.now()`. */
interface Change {
  readonly sentAt: number;
  readonly firstByteAt: number;
}

/** How long a change takes, the write included, until its frame begins to arrive on one stream; on each engine. */
export async function measurePropagation(bench: Bench): Promise<readonly Row[]> {
  await using bare = await Worker.start<BareCommitCommands>(bench.machine, 'bare-commits.ts', 'server');
  using folder = temporaryFolder();
  bench.say('propagation: on SQLite');
  const sqlite = await bare.ask('times', { place: { sqlite: folder.file('bare.db') }, count: CHANGES });
  const rows = await measureSqlite(bench, sqlite);

  bench.say('propagation: on PostgreSQL');
  await using server = await startPostgres({ settings: { track_commit_timestamp: 'on' } });
  const place = { postgres: await server.createDatabase() };
  const commits = await bare.ask('times', { place, count: CHANGES });
  const databaseUrl = await server.createDatabase();
  const { changes } = await measureNode(bench, SMALL, { databaseUrl });

  // PostgreSQL notes when it has committed, to the microsecond. The log of SQLite has whole milliseconds, too few for this.
  const text = `SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 * 1000 AS at
    FROM change_log WHERE kind = 'flags.changed' ORDER BY seq DESC LIMIT ${changes.length}`;
  const logged = (await server.query<{ at: number }>(text, databaseUrl)).reverse();
  const committedAt = logged.map(({ at }) => at - performance.timeOrigin);
  const fromCommit = changes.map((change, index) => change.firstByteAt - (committedAt[index] ?? Number.NaN));
  const name = 'PostgreSQL: from the commit of a change to the first byte of its frame';
  return [
    ...rows,
    rowOf(name, fromCommit, commits, { p99Ms: 10 }),
    rowOf('PostgreSQL: from sending a change to the first byte of its frame', fromSending(changes), commits, {
      p50Ms: 4,
      p99Ms: 15,
    }),
  ];
}

async function measureSqlite(bench: Bench, commits: readonly number[]): Promise<Row[]> {
  const small = await measureNode(bench, SMALL);
  const large = await measureNode(bench, LARGE);
  await using loop = await startBareStreams(bench.machine, { frame: large.frame });
  const floor = loop.stream && (await measureChanges(loop.stream, CHANGES));
  const what = 'SQLite: from sending a change to the first byte of its frame';
  return [
    rowOf(what, fromSending(small.changes), commits, { p50Ms: 1.5, p99Ms: 5 }),
    rowOf(`${what}, each after ${PAUSE_MS} ms without one`, fromSending(small.paused), commits, {
      p50Ms: 1.5,
    }),
    rowOf(
      `${what} of ${LARGE} flags`,
      fromSending(large.changes),
      fromSending(floor ?? []),
      { p50Ms: 3 },
      'a loop over bare Bun.serve streams',
    ),
  ];
}

/** Changes one after another, and as people make them. */
async function measureNode(bench: Bench, flags: number, options: StartNodeOptions = {}) {
  await using node = await openFilled(bench, flags, options);
  const frame = frameOf(await answersOf(node));
  const paused = options.databaseUrl === undefined ? await measureChanges(node.stream, PAUSED, PAUSE_MS) : [];
  return { frame, paused, changes: await measureChanges(node.stream, CHANGES) };
}

let serial = 0;

async function measureChanges(stream: SubjectStream, count: number, pauseMs = 0): Promise<Change[]> {
  const arrivals = await openArrivals(stream);
  const changes: Change[] = [];
  const warmUp = pauseMs === 0 ? WARM_UP : 5;
  for (let n = -warmUp; n < count; n++) {
    if (pauseMs > 0) await Bun.sleep(pauseMs);
    const arrival = arrivals.next();
    const sentAt = performance.now();
    const answered = send(stream.change(++serial));
    const firstByteAt = await arrival;
    await answered;
    if (n >= 0) changes.push({ sentAt, firstByteAt });
  }
  arrivals.close();
  return changes;
}

async function send({ url, file: _file, ...init }: ChangeRequest): Promise<void> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error(`a change was answered ${response.status}`);
  await response.arrayBuffer();
}

function fromSending(changes: readonly Change[]): number[] {
  return changes.map(({ sentAt, firstByteAt }) => firstByteAt - sentAt);
}

function rowOf(
  what: string,
  measured: readonly number[],
  reference: readonly number[],
  goal: { readonly p50Ms?: number; readonly p99Ms?: number },
  name = 'a bare commit',
): Row {
  const { p50Ms = Number.POSITIVE_INFINITY, p99Ms = Number.POSITIVE_INFINITY } = goal;
  const goals = [goal.p50Ms && `p50 <= ${p50Ms} ms`, goal.p99Ms && `p99 < ${p99Ms} ms`];
  return {
    what,
    measured: spread(measured),
    reference: `${name}: ${spread(reference)}`,
    ratio: times(median(measured) / median(reference)),
    goal: goals.filter(Boolean).join(', '),
    isReached: median(measured) <= p50Ms && percentile(measured, 0.99) < p99Ms,
  };
}
