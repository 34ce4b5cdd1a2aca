import { temporaryFolder } from '@halyard/testing';
import type { Machine } from './machine.ts';
import { pin } from './machine.ts';
import { Worker } from './worker.ts';
import type { LoadCommands, LoadPlan, LoadResult } from './workers/load-generator.ts';

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
  const worker = await Worker.start<LoadCommands>(machine, 'load-generator.ts', 'load');
  return {
    name: 'our own load generator (wrk is not installed)',
    outpacesServers: false,
    run: (plan) => worker.ask('run', plan),
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
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
  const child = Bun.spawn(
    [wrk, '-t1', `-c${plan.connections}`, `-d${Math.ceil(plan.seconds)}s`, '--latency', ...options, plan.url],
    { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit', timeout: plan.seconds * 1000 + 10_000 },
  );
  await pin(machine, child.pid, 'load');
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
