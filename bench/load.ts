import { temporaryFolder } from '@halyard/testing';
import { type Machine, pinned } from './machine.ts';
import { metered } from './process-figures.ts';
import type { RepeatedRequest } from './raw-request.ts';
import { median } from './statistics.ts';
import { Worker } from './worker.ts';
import type { LoadPlan, LoadResult, RequestCommands } from './workers/requests.ts';

/** Makes load: `wrk` where it is installed, otherwise a small generator of our own. */
export interface LoadMaker extends AsyncDisposable {
  readonly name: string;
  /** Whether it asks faster than any server answers; otherwise rates say nothing, and processor times must. */
  readonly outpacesServers: boolean;
  run(plan: LoadPlan): Promise<LoadResult>;
}

/** Chooses the load generator of this machine. Compare only figures of the same one. */
export async function startLoadMaker(machine: Machine): Promise<LoadMaker> {
  const { wrk } = machine;
  if (wrk !== undefined) {
    return {
      name: 'wrk',
      outpacesServers: true,
      run: (plan) => runWrk(machine, wrk, plan),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const worker = await Worker.start<RequestCommands>(machine, 'requests.ts', 'load');
  return {
    name: 'our own load generator (wrk is not installed)',
    outpacesServers: false,
    run: (plan) => worker.ask('load', plan),
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

/** What a subject makes of one request: medians of several rounds. */
export interface ReadFigures {
  /** Requests a second. */
  readonly rate: number;
  /** Processor time of a request. */
  readonly cpuMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A request, and the processes that answer it. */
export interface Target extends RepeatedRequest {
  readonly pids: readonly number[];
}

/** How much load to make. */
export interface Effort {
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** Every target in turn, several rounds after one that warms up, so that a slow moment of the machine meets all of them. */
export async function measureReads<Name extends string>(
  load: LoadMaker,
  targets: ReadonlyMap<Name, Target>,
  { connections, rounds, seconds }: Effort,
): Promise<Map<Name, ReadFigures>> {
  const figures = new Map([...targets.keys()].map((name) => [name, [] as ReadFigures[]]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { pids, url, headers, body }] of targets) {
      const plan = { url, headers, body, connections, seconds };
      const { result, cpuMs } = await metered(pids, () => load.run(plan));
      if (round === 0) continue;
      const { requests, seconds: took, p50Ms = Number.NaN, p99Ms = Number.NaN } = result;
      figures.get(name)?.push({ rate: requests / took, cpuMs: cpuMs / requests, p50Ms, p99Ms });
    }
  }
  return new Map([...figures].map(([name, all]) => [name, middle(all)]));
}

function middle(all: readonly ReadFigures[]): ReadFigures {
  return {
    rate: median(all.map(({ rate }) => rate)),
    cpuMs: median(all.map(({ cpuMs }) => cpuMs)),
    p50Ms: median(all.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(all.map(({ p99Ms }) => p99Ms)),
  };
}

async function runWrk(machine: Machine, wrk: string, plan: LoadPlan): Promise<LoadResult> {
  using folder = temporaryFolder();
  const options = Object.entries(plan.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  if (plan.body !== undefined) {
    // Only a script can make wrk send a body. The brackets are Lua's quotes.
    const script = folder.file('post.lua');
    await Bun.write(script, `wrk.method = "POST"\nwrk.body = [==[${plan.body}]==]\n`);
    options.push('-s', script);
  }
  const command = [wrk, '-t1', `-c${plan.connections}`, `-d${Math.ceil(plan.seconds)}s`, '--latency'];
  const child = Bun.spawn(pinned(machine, 'load', [...command, ...options, plan.url]), {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: plan.seconds * 1000 + 10_000,
  });
  const text = await new Response(child.stdout).text();
  const [, requests, seconds] = /(\d+) requests in ([\d.]+)s/.exec(text) ?? [];
  if (requests === undefined || /Non-2xx|Socket errors/.test(text)) throw new Error(`wrk said:\n${text}`);
  const [p50Ms, p99Ms] = [latencyIn(text, 50), latencyIn(text, 99)];
  return { requests: Number(requests), seconds: Number(seconds), p50Ms, p99Ms };
}

/** One line of wrk's distribution, as in `99%    6.64ms`, in milliseconds. */
function latencyIn(text: string, percentile: number): number {
  const [, value, unit = ''] = new RegExp(`^ +${percentile}% +([\\d.]+)(us|ms|s)$`, 'm').exec(text) ?? [];
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN);
}
