import { join } from 'node:path';
import {
  guardProcess,
  type NodeProcess,
  type StartNodeOptions,
  startNode,
  temporaryFolder,
} from '@halyard/testing';
import { ENVIRONMENT, type Fixture, fillNode, flagKey, PROJECT } from '../fixture.ts';
import { bytes, mebibytes, microseconds, milliseconds, perSecond } from '../format.ts';
import { freePort } from '../free-port.ts';
import type { LoadMaker } from '../load.ts';
import { type Machine, pin } from '../machine.ts';
import { cpuTimeMs, residentBytes } from '../process-figures.ts';
import type { ReadProbe, Watched } from '../reads-wait.ts';
import { median, percentile } from '../statistics.ts';
import { PATIENCE_MS } from '../within.ts';
import type { Figure, Scale } from './dimension.ts';

/** A node that uses more memory than this is ended: a mistake at these sizes must not take the machine down. */
const MOST_BYTES = 6 * 2 ** 30;

/** Noise of times and of processor times, in milliseconds. */
const FLOOR = { wait: 4, time: 2, cpu: 0.02, start: 50 } as const;

/** A node on the core of servers, which ends when it takes too much memory. */
export async function startGuarded(machine: Machine, options: StartNodeOptions = {}): Promise<NodeProcess> {
  const node = await startNode(options);
  await pin(machine, node.pid, 'server');
  const timer = setInterval(() => {
    if (residentBytes(node.pid) > MOST_BYTES) void node.kill();
  }, 500);
  void node.exited.then(() => clearInterval(timer));
  return node;
}

/** Fills a node with flags and measures it, then its starts on the same data. Returns the figures of both. */
export async function measureFilled(
  { machine }: Scale,
  flags: number,
  measure: (node: NodeProcess, fixture: Fixture, fillMs: number) => Promise<Record<string, Figure>>,
): Promise<Record<string, Figure>> {
  using folder = temporaryFolder();
  const node = await startGuarded(machine, { dataFolder: folder.path });
  let figures: Record<string, Figure>;
  let headers: Fixture['headers'];
  try {
    const before = performance.now();
    const fixture = await fillNode(node, flags);
    figures = await measure(node, fixture, performance.now() - before);
    ({ headers } = fixture);
  } finally {
    await node.stop();
  }
  return { start: await startCost(machine, folder.path, headers), ...figures };
}

/** The read of a flag that is measured everywhere. */
export function singleRead(node: Pick<NodeProcess, 'url'>, { headers }: Pick<Fixture, 'headers'>) {
  return { url: `${node.url}/v1/flags/${flagKey(1)}?env=${ENVIRONMENT}`, headers };
}

/** Rate and processor time of a request, sent again and again by 32 callers. */
export async function readCost(
  load: LoadMaker,
  node: NodeProcess,
  request: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  seconds = 2,
): Promise<Figure> {
  await load.run({ ...request, connections: 32, seconds: 1 });
  const before = cpuTimeMs(node.pid);
  const { requests, seconds: took } = await load.run({ ...request, connections: 32, seconds });
  const cpu = (cpuTimeMs(node.pid) - before) / requests;
  return {
    text: `${perSecond(requests / took)} (${microseconds(cpu)})`,
    judged: [{ name: 'CPU', value: cpu, floor: FLOOR.cpu }],
  };
}

/** Changes of one flag, one after another. */
export async function changeCost(node: NodeProcess, { management }: Fixture, count = 60): Promise<Figure> {
  const times: number[] = [];
  const before = cpuTimeMs(node.pid);
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await management.putState(PROJECT, ENVIRONMENT, flagKey(0), { enabled: true, value: `${start}` });
    times.push(performance.now() - start);
  }
  const cpu = (cpuTimeMs(node.pid) - before) / count;
  const [p50, p99] = [median(times), percentile(times, 0.99)];
  return {
    text: `${milliseconds(p50)} / ${milliseconds(p99)} (${milliseconds(cpu)})`,
    judged: [
      { name: 'p50', value: p50, floor: FLOOR.time },
      { name: 'CPU', value: cpu, floor: 1 },
    ],
  };
}

/** One request of the management API, three times; the median, its size, and how long reads waited at most. */
export async function managementCost(
  node: NodeProcess,
  probe: ReadProbe,
  path: string,
  init: RequestInit = {},
): Promise<Figure> {
  const rounds: { ms: number; size: number; waitMs: number }[] = [];
  for (let round = 0; round < 3; round++) {
    const watched = await probe.during(() => fetchSize(node, path, init));
    rounds.push({ ms: watched.tookMs, size: watched.result, waitMs: watched.reads.maxMs });
  }
  const [ms, waitMs] = [median(rounds.map((round) => round.ms)), median(rounds.map((round) => round.waitMs))];
  return {
    text: `${milliseconds(ms)} (${bytes(rounds[0]?.size ?? 0)}), reads wait ${milliseconds(waitMs)}`,
    judged: [
      { name: 'time', value: ms, floor: FLOOR.time },
      { name: 'reads wait', value: waitMs, floor: FLOOR.wait },
    ],
  };
}

async function fetchSize(node: NodeProcess, path: string, init: RequestInit): Promise<number> {
  const response = await fetch(`${node.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${node.adminToken}`, ...init.headers },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const body = await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
  return body.byteLength;
}

/** How long something took that was done once, and how long reads waited at most. */
export function watchedFigure({ tookMs, reads }: Watched<unknown>): Figure {
  return {
    text: `${milliseconds(tookMs)}, reads wait ${milliseconds(reads.maxMs)}`,
    judged: [
      { name: 'time', value: tookMs, floor: FLOOR.time },
      { name: 'reads wait', value: reads.maxMs, floor: FLOOR.wait },
    ],
  };
}

/** Memory of processes now. */
export function memory(...pids: readonly number[]): Figure {
  const total = pids.reduce((sum, pid) => sum + residentBytes(pid), 0);
  return { text: mebibytes(total), judged: [{ value: total, floor: 0, isBytes: true }] };
}

/** The median of three starts on the data of a stopped node, to the first answer of a flag. */
export async function startCost(
  machine: Machine,
  dataFolder: string,
  headers: Readonly<Record<string, string>>,
): Promise<Figure> {
  const figures: number[] = [];
  for (let round = 0; round < 3; round++) figures.push(await timeStart(machine, dataFolder, headers));
  const ms = median(figures);
  return { text: milliseconds(ms), judged: [{ value: ms, floor: FLOOR.start }] };
}

async function timeStart(
  machine: Machine,
  dataFolder: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const port = freePort();
  const program = join(import.meta.dir, '../../packages/server/src/main.ts');

  const begun = performance.now();
  const child = Bun.spawn(
    [
      process.execPath,
      program,
      'serve',
      '--bare',
      '--log-level',
      'error',
      '--data',
      dataFolder,
      '--port',
      `${port}`,
    ],
    { env: { PATH: process.env.PATH ?? '' }, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
  );

  const guard = guardProcess(child.pid);
  try {
    await pin(machine, child.pid, 'server');
    const { url } = singleRead({ url: `http://127.0.0.1:${port}` }, { headers });
    while (performance.now() - begun < PATIENCE_MS && child.exitCode === null) {
      const response = await fetch(url, { headers, keepalive: false }).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.ok === true) return performance.now() - begun;
      await Bun.sleep(1);
    }
    throw new Error('the node did not start again on its data');
  } finally {
    child.kill('SIGTERM');
    await child.exited;
    guard.release();
  }
}
