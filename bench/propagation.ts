import { Database } from 'bun:sqlite';
import { type NodeProcess, startNode, startPostgres, temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { ENVIRONMENT, fillNode, flagKey, PROJECT } from './fixture.ts';
import { milliseconds, times, verdict } from './format.ts';
import { openRawStream } from './raw-stream.ts';
import type { Row } from './row.ts';
import { percentile } from './statistics.ts';
import { PATIENCE_MS, within } from './within.ts';

const FLAGS = 26;
const WARM_UP = 50;
const CHANGES = 500;

/** The times of one change, in epoch milliseconds with fractions. */
interface Change {
  readonly sentAt: number;
  readonly firstByteAt: number;
}

/** Times in milliseconds, one of each per change. */
interface Figures {
  readonly fromCommit: readonly number[];
  readonly fromRequest: readonly number[];
  /** Bare commits of one row on the same engine. */
  readonly bareCommit: readonly number[];
}

/** What is to be reached on an engine, in milliseconds. */
interface Goals {
  readonly commitP99Ms: number;
  /** From the request. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** How long a change takes to the first byte of its frame, on each engine. */
export async function measurePropagation(bench: Bench): Promise<readonly Row[]> {
  bench.say('propagation: on SQLite');
  const sqlite = await measureSqlite();
  bench.say('propagation: on PostgreSQL');
  const postgres = await measurePostgres();
  return [
    ...rowsOf('SQLite', sqlite, { commitP99Ms: 5, p50Ms: 1.2, p99Ms: 5 }),
    ...rowsOf('PostgreSQL', postgres, { commitP99Ms: 10, p50Ms: 4, p99Ms: 15 }),
  ];
}

/** The log's own time is taken before the commit begins and lacks the fraction: the figures are up to 1 ms too long. */
async function measureSqlite(): Promise<Figures> {
  using folder = temporaryFolder();
  const node = await startNode({ dataFolder: folder.path });
  const changes = await measureChanges(node).finally(() => node.stop());
  using database = new Database(folder.file('halyard.db'), { readonly: true });
  const text = `SELECT at FROM change_log WHERE kind = 'flags.changed' ORDER BY seq DESC LIMIT ?`;
  const commits = database.query<{ at: number }, [number]>(text).all(changes.length);
  return { ...figuresOf(changes, commits.reverse()), bareCommit: await commitOnSqlite() };
}

/** PostgreSQL notes when it has committed, to the microsecond. */
async function measurePostgres(): Promise<Figures> {
  await using server = await startPostgres({ settings: { track_commit_timestamp: 'on' } });
  const databaseUrl = await server.createDatabase();
  const node = await startNode({ databaseUrl });
  const changes = await measureChanges(node).finally(() => node.stop());
  const text = `SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 * 1000 AS at
    FROM change_log WHERE kind = 'flags.changed' ORDER BY seq DESC LIMIT ${changes.length}`;
  const commits = await server.query<{ at: number }>(text, databaseUrl);
  const bareCommit = await commitOnPostgres(await server.createDatabase());
  return { ...figuresOf(changes, commits.reverse()), bareCommit };
}

function figuresOf(changes: readonly Change[], commits: readonly { readonly at: number }[]) {
  if (commits.length !== changes.length) throw new Error('the log does not hold every change');
  const fromCommit = changes.map(
    ({ firstByteAt }, index) => firstByteAt - (commits[index]?.at ?? Number.NaN),
  );
  const fromRequest = changes.map(({ firstByteAt, sentAt }) => firstByteAt - sentAt);
  return { fromCommit: fromCommit.slice(WARM_UP), fromRequest: fromRequest.slice(WARM_UP) };
}

async function measureChanges(node: NodeProcess): Promise<Change[]> {
  const { headers } = await fillNode(node, FLAGS);
  const opened = Promise.withResolvers<void>();
  let arrival = Promise.withResolvers<number>();
  let frameStart = 0;
  const stream = await openRawStream(`${node.url}/v1/stream?env=${ENVIRONMENT}`, headers, {
    onFrameStart: () => {
      frameStart = now();
    },
    onFrame: () => {
      opened.resolve();
      arrival.resolve(frameStart);
    },
    onEnd: (problem) => arrival.reject(new Error(problem)),
  });
  await within(opened.promise, 'the first frame');
  const changes: Change[] = [];
  for (let serial = 0; serial < WARM_UP + CHANGES; serial++) {
    arrival = Promise.withResolvers();
    const sentAt = now();
    const answered = sendChange(node, serial);
    const firstByteAt = await within(arrival.promise, 'the frame of a change');
    await answered;
    changes.push({ sentAt, firstByteAt });
  }
  stream.close();
  return changes;
}

/** Wall-clock time with fractions, to be compared with that of other processes on this machine. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

async function sendChange(node: NodeProcess, serial: number): Promise<void> {
  const path = `/api/projects/${PROJECT}/environments/${ENVIRONMENT}/flags/${flagKey(0)}`;
  const response = await fetch(`${node.url}${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${node.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ enabled: true, value: serial }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (!response.ok) throw new Error(`a change was answered ${response.status}`);
  await response.arrayBuffer();
}

async function commitOnSqlite(): Promise<number[]> {
  using folder = temporaryFolder();
  using database = new Database(folder.file('bare.db'));
  database.run('PRAGMA journal_mode = WAL');
  database.run('PRAGMA synchronous = FULL');
  database.run('CREATE TABLE t (n BIGINT)');
  const insert = database.prepare('INSERT INTO t VALUES (?)');
  return await timeCommits(async (serial) => void insert.run(serial));
}

async function commitOnPostgres(url: string): Promise<number[]> {
  const client = new Bun.SQL(url, { max: 1 });
  try {
    await client`CREATE TABLE t (n BIGINT)`;
    return await timeCommits(async (serial) => void (await client`INSERT INTO t VALUES (${serial})`));
  } finally {
    await client.close();
  }
}

async function timeCommits(commit: (serial: number) => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let serial = 0; serial < WARM_UP + CHANGES; serial++) {
    const start = performance.now();
    await commit(serial);
    if (serial >= WARM_UP) times.push(performance.now() - start);
  }
  return times;
}

function rowsOf(engine: string, figures: Figures, goals: Goals): Row[] {
  const { fromCommit, fromRequest, bareCommit } = figures;
  const [p50, p99] = [percentile(fromRequest, 0.5), percentile(fromRequest, 0.99)];
  return [
    {
      what: `${engine}: from the commit of a change to the first byte of its frame`,
      measured: describe(fromCommit),
      reference: `a bare commit: ${describe(bareCommit)}`,
      ratio: ratioOf(fromCommit, bareCommit),
      goal: `p99 < ${goals.commitP99Ms} ms`,
      verdict: verdict(percentile(fromCommit, 0.99) < goals.commitP99Ms),
    },
    {
      what: `${engine}: from sending a change to the first byte of its frame`,
      measured: describe(fromRequest),
      reference: `a bare commit: ${describe(bareCommit)}`,
      ratio: ratioOf(fromRequest, bareCommit),
      goal: `p50 < ${goals.p50Ms} ms, p99 < ${goals.p99Ms} ms`,
      verdict: verdict(p50 < goals.p50Ms && p99 < goals.p99Ms),
    },
  ];
}

function describe(figures: readonly number[]): string {
  return `p99 ${milliseconds(percentile(figures, 0.99))}, median ${milliseconds(percentile(figures, 0.5))}`;
}

function ratioOf(figures: readonly number[], references: readonly number[]): string {
  return times(percentile(figures, 0.5) / percentile(references, 0.5));
}
