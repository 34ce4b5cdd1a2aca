import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lastingPort, randomAdminToken, temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { mebibytes, milliseconds } from './format.ts';
import { fillFolder, type Headers, requestsOf } from './node.ts';
import { metered, ownBytes, settledBytes, wakeUps } from './process-figures.ts';
import { inTurn } from './rounds.ts';
import { type Row, rowOf } from './row.ts';
import { type Program, startProgram } from './running.ts';
import { median } from './statistics.ts';

const SIZES = [1_000, 10_000] as const;
const LARGEST = SIZES[1];
/** The one before them brings the files into the page cache. */
const ROUNDS = 7;
const GOAL_MS = { 1000: 60, 10000: 300 } as const;
const IDLE_SECONDS = 10;

const BARE = 'a bare Bun.serve';
const EMPTY = 'an empty folder, from source';

/** From starting the process to the first answer of a flag, with flags on disk; and what it takes idle. */
export async function measureStart(bench: Bench): Promise<readonly Row[]> {
  await using folders = new AsyncDisposableStack();
  const programs = new Map<string, () => Program>([
    [BARE, bareProgram],
    [EMPTY, () => nodeProgram(bench, 'source', folders.use(temporaryFolder()).path)],
  ]);
  for (const flags of SIZES) {
    const { path } = folders.use(temporaryFolder());
    const { headers } = await fillFolder(bench, flags, path);
    for (const kind of ['source', 'executable'] as const) {
      if (kind === 'executable' && !existsSync(executableOf(bench))) continue;
      programs.set(nameOf(flags, kind), () => nodeProgram(bench, kind, path, headers));
    }
  }
  if (!existsSync(executableOf(bench)))
    bench.leaveOut('the start of dist/halyard: build it with `bun run build`');

  bench.say(`start: ${ROUNDS} rounds`);
  const rounds = await inTurn(programs, ROUNDS, async ([, program]) => {
    await using started = await startProgram(bench.machine, program());
    return started.startMs;
  });
  const starts = new Map([...rounds].map(([[name], all]) => [name, median(all)]));

  bench.say('start: idle');
  return [...startRows(starts), ...(await idleRows(bench, programs)), ...diskRows(bench)];
}

/** The command that serves what a folder holds, on a port of its own. Without headers it is asked whether it is ready. */
export function nodeProgram(
  { checkout }: Pick<Bench, 'checkout'>,
  kind: 'source' | 'executable',
  dataFolder: string,
  headers?: Headers,
): Program {
  const port = lastingPort();
  const url = `http://127.0.0.1:${port}`;
  const source = [process.execPath, join(checkout.root, 'packages/server/src/main.ts')];
  const arguments_ = ['serve', '--bare', '--log-level', 'error', '--data', dataFolder, '--port', `${port}`];
  const { one } = requestsOf({ url, adminToken: '' }, headers ?? {}).requests;
  return {
    command: [...(kind === 'source' ? source : [executableOf({ checkout })]), ...arguments_],
    env: { HALYARD_ADMIN_TOKEN: randomAdminToken() },
    ready: headers === undefined ? { url: `${url}/readyz` } : one,
  };
}

/** Where `bun run build` puts the executable. */
export function executableOf({ checkout }: Pick<Bench, 'checkout'>): string {
  return join(checkout.root, 'dist/halyard');
}

function bareProgram(): Program {
  const port = lastingPort();
  const script = `Bun.serve({ port: ${port}, fetch: () => new Response() })`;
  return { command: [process.execPath, '-e', script], ready: { url: `http://127.0.0.1:${port}` } };
}

function nameOf(flags: number, kind: 'source' | 'executable'): string {
  return `${flags} flags on disk, ${kind === 'source' ? 'from source' : 'dist/halyard'}`;
}

function startRows(starts: ReadonlyMap<string, number>): Row[] {
  const row = (flags: (typeof SIZES)[number], kind: 'source' | 'executable', reference: string): Row[] => {
    const name = nameOf(flags, kind);
    const [ms, other] = [starts.get(name), starts.get(reference)];
    if (ms === undefined || other === undefined) return [];
    const goal = `< ${kind === 'executable' ? GOAL_MS[flags] : 300} ms`;
    return [
      rowOf(`start to the first answer, ${name}`, milliseconds, ms, { beside: [reference, other], goal }),
    ];
  };
  const rows = SIZES.flatMap((flags) => [...row(flags, 'executable', BARE), ...row(flags, 'source', BARE)]);
  return [...rows, ...row(LARGEST, 'source', EMPTY)];
}

/** Processes without any requests, after the work that follows their start. */
async function idleRows(bench: Bench, programs: ReadonlyMap<string, () => Program>): Promise<Row[]> {
  const measure = async (name: string) => {
    const program = programs.get(name);
    if (program === undefined) return undefined;
    await using started = await startProgram(bench.machine, program());
    const [pid = 0] = started.pids;
    const bytes = await settledBytes([pid]);
    const before = wakeUps(pid);
    const { cpuMs, tookMs } = await metered([pid], () => Bun.sleep(IDLE_SECONDS * 1000));
    const wakes = (wakeUps(pid) - before) / (tookMs / 1000);
    return { bytes, own: ownBytes(pid), wakes, cpu: cpuMs / tookMs };
  };
  const names = [nameOf(1_000, 'executable'), nameOf(LARGEST, 'executable'), nameOf(LARGEST, 'source')];
  const [bare, ...all] = await Promise.all([BARE, ...names].map(measure));
  if (bare === undefined) return [];

  const memory = (of: typeof bare) => `${mebibytes(of.own)} own, ${mebibytes(of.bytes - of.own)} of files`;
  const wakeUpsText = (of: typeof bare) =>
    `${of.wakes.toFixed(0)} a second (${(of.cpu * 100).toFixed(1)} % of a core)`;
  return names.flatMap((name, index) => {
    const idle = all[index];
    if (idle === undefined) return [];
    const beside = [BARE, bare] as const;
    return [
      rowOf(`memory, ${name}, idle`, memory, idle, { by: ({ own }) => own, beside }),
      rowOf(`wake-ups, ${name}, idle`, wakeUpsText, idle, { by: ({ wakes }) => wakes, beside }),
    ];
  });
}

/** How large the executable is, and how much of it is the runtime, which is not ours to shrink. */
function diskRows(bench: Bench): Row[] {
  const path = executableOf(bench);
  if (!existsSync(path)) return [];
  return [
    rowOf('dist/halyard on disk', mebibytes, statSync(path).size, {
      beside: ['the runtime alone', statSync(process.execPath).size],
    }),
  ];
}
