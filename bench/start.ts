import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { guardProcess, randomAdminToken, startNode, temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { ENVIRONMENT, fillNode, flagKey } from './fixture.ts';
import { mebibytes, milliseconds, times, verdict } from './format.ts';
import { freePort } from './free-port.ts';
import { cpuTimeMs, ownBytes, settledBytes, wakeUps } from './process-figures.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';

const FLAGS = 10_000;
const ROUNDS = 7;
const ROOT = join(import.meta.dir, '..');
const EXECUTABLE = join(ROOT, 'dist/halyard');
const PATIENCE_MS = 20_000;
const IDLE_SECONDS = 10;

/** A program to start, and the request whose answer shows that it is there. */
interface Starter {
  readonly command: (port: number) => readonly string[];
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** From starting the process to the first answer of a flag, with ten thousand flags on disk; and what it takes idle. */
export async function measureStart(bench: Bench): Promise<readonly Row[]> {
  using full = temporaryFolder();
  using empty = temporaryFolder();
  const path = `/v1/flags/${flagKey(1)}?env=${ENVIRONMENT}`;
  const headers = await fillFolder(full.path);
  const serve = (program: readonly string[], data: string) => (port: number) => [
    ...program,
    ...['serve', '--bare', '--log-level', 'error', '--data', data, '--port', String(port)],
  ];
  const source = [process.execPath, join(ROOT, 'packages/server/src/main.ts')];
  const bare = `Bun.serve({ port: Number(process.argv.at(-1)), fetch: () => new Response() })`;
  const starters = {
    source: { command: serve(source, full.path), path, headers },
    executable: existsSync(EXECUTABLE)
      ? { command: serve([EXECUTABLE], full.path), path, headers }
      : undefined,
    empty: { command: serve(source, empty.path), path: '/readyz', headers: {} },
    bare: { command: (port: number) => [process.execPath, '-e', bare, String(port)], path: '/', headers: {} },
  };
  if (starters.executable === undefined)
    bench.leaveOut('the start of dist/halyard: build it with `bun run build`');
  const rows = rowsOf(await measureAll(bench, starters));
  bench.say('start: idle');
  const idle = await Promise.all([measureIdle(starters.source), measureIdle(starters.bare)]);
  return [...rows, ...idleRows(...idle), ...diskRows()];
}

async function fillFolder(dataFolder: string): Promise<Readonly<Record<string, string>>> {
  const node = await startNode({ dataFolder });
  try {
    return (await fillNode(node, FLAGS)).headers;
  } finally {
    await node.stop();
  }
}

async function measureAll(
  bench: Bench,
  starters: Readonly<Record<string, Starter | undefined>>,
): Promise<Map<string, number>> {
  const figures = new Map<string, number[]>();
  // Round 0 brings the files into the page cache.
  for (let round = 0; round <= ROUNDS; round++) {
    bench.say(`start: round ${round} of ${ROUNDS}`);
    for (const [name, starter] of Object.entries(starters)) {
      if (starter === undefined) continue;
      const ms = await timeStart(starter);
      if (round > 0) figures.set(name, [...(figures.get(name) ?? []), ms]);
    }
  }
  return new Map([...figures].map(([name, times]) => [name, median(times)]));
}

async function timeStart(starter: Starter): Promise<number> {
  const begun = performance.now();
  return await withStarted(starter, async () => performance.now() - begun);
}

/** Starts the program, waits for its first answer, does the work, and ends the program. */
async function withStarted<T>(
  { command, path, headers }: Starter,
  work: (pid: number) => Promise<T>,
): Promise<T> {
  const port = freePort();
  const child = Bun.spawn([...command(port)], {
    env: { HALYARD_ADMIN_TOKEN: randomAdminToken() },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'inherit',
  });
  const guard = guardProcess(child.pid);
  try {
    await untilAnswered(`http://127.0.0.1:${port}${path}`, headers, child);
    return await work(child.pid);
  } finally {
    // Nothing has been written: there is nothing to lose.
    child.kill('SIGKILL');
    await child.exited;
    guard.release();
  }
}

/** A process without any requests, after the work that follows its start. */
interface Idle {
  readonly bytes: number;
  /** The part of them that is not pages of files. */
  readonly ownBytes: number;
  readonly wakeUpsPerSecond: number;
  /** Share of a core. */
  readonly cpu: number;
}

async function measureIdle(starter: Starter): Promise<Idle> {
  return await withStarted(starter, async (pid) => {
    const bytes = await settledBytes([pid]);
    const [wakeUpsBefore, cpuBefore] = [wakeUps(pid), cpuTimeMs(pid)];
    await Bun.sleep(IDLE_SECONDS * 1000);
    return {
      bytes,
      ownBytes: ownBytes(pid),
      wakeUpsPerSecond: (wakeUps(pid) - wakeUpsBefore) / IDLE_SECONDS,
      cpu: (cpuTimeMs(pid) - cpuBefore) / (IDLE_SECONDS * 1000),
    };
  });
}

function idleRows(own: Idle, bare: Idle): Row[] {
  const row = (what: string, measured: string, reference: string, ratio: number): Row => ({
    what: `${what}, ${FLAGS} flags, idle`,
    measured,
    reference: `a bare Bun.serve: ${reference}`,
    ratio: Number.isFinite(ratio) ? times(ratio) : '',
    goal: '',
    verdict: '',
  });
  const memory = (idle: Idle) => `${mebibytes(idle.bytes)}, of which ${mebibytes(idle.ownBytes)} own`;
  const share = (cpu: number) => `${(cpu * 100).toFixed(2)} % of a core`;
  return [
    row('memory', memory(own), memory(bare), own.bytes / bare.bytes),
    row(
      'wake-ups',
      `${own.wakeUpsPerSecond.toFixed(0)} a second (${share(own.cpu)})`,
      `${bare.wakeUpsPerSecond.toFixed(0)} a second (${share(bare.cpu)})`,
      own.wakeUpsPerSecond / bare.wakeUpsPerSecond,
    ),
  ];
}

/** How large the executable is, and how much of it is the runtime, which is not ours to shrink. */
function diskRows(): Row[] {
  if (!existsSync(EXECUTABLE)) return [];
  const [own, runtime] = [statSync(EXECUTABLE).size, statSync(process.execPath).size];
  return [
    {
      what: 'dist/halyard on disk',
      measured: mebibytes(own),
      reference: `the runtime alone: ${mebibytes(runtime)}`,
      ratio: times(own / runtime),
      goal: '',
      verdict: '',
    },
  ];
}

async function untilAnswered(
  url: string,
  headers: Readonly<Record<string, string>>,
  child: Bun.Subprocess,
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    try {
      // No connection is kept: the next start is a new process on that port.
      const response = await fetch(url, {
        headers,
        keepalive: false,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await response.arrayBuffer();
      if (response.ok) return;
    } catch {
      // The port is not open yet.
    }
    await Bun.sleep(1);
  }
  throw new Error(`${url} was not answered; the process said ${child.exitCode ?? 'nothing'}`);
}

function rowsOf(figures: ReadonlyMap<string, number>): Row[] {
  const row = (program: string, name: string, reference: string, referenceName: string): Row[] => {
    const [ms, other] = [figures.get(name), figures.get(reference)];
    if (ms === undefined || other === undefined) return [];
    return [
      {
        what: `start to the first answer, ${FLAGS} flags on disk, ${program}`,
        measured: milliseconds(ms),
        reference: `${referenceName}: ${milliseconds(other)}`,
        ratio: times(ms / other),
        goal: '< 300 ms',
        verdict: verdict(ms < 300),
      },
    ];
  };
  return [
    ...row('from source', 'source', 'empty', 'an empty folder'),
    ...row('from source', 'source', 'bare', 'a bare Bun.serve'),
    ...row('dist/halyard', 'executable', 'bare', 'a bare Bun.serve'),
  ];
}
