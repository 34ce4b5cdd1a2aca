import { temporaryFolder } from '@halyard/testing';
import { type Machine, pinned } from './machine.ts';
import { metered } from './process-figures.ts';
import type { RepeatedRequest } from './raw-request.ts';
import { inTurn, medians } from './rounds.ts';
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
export function startLoadMaker(machine: Machine): LoadMaker {
  const { wrk } = machine;
  if (wrk !== undefined) {
    return {
      name: 'wrk',
      outpacesServers: true,
      run: (plan) => runWrk(machine, wrk, plan),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const worker = new Worker<RequestCommands>(machine, 'requests.ts', 'load');
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
}

/** A request, and the processes that answer it. */
export interface Target extends RepeatedRequest {
  readonly pids: readonly number[];
}

/** Asks every target in turn, by 32 callers for so long in each round. */
export async function measureReads<Name extends string>(
  load: LoadMaker,
  targets: ReadonlyMap<Name, Target>,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Map<Name, ReadFigures>> {
  const figures = await inTurn(targets, rounds, async ([, { pids, url, headers, body }]) => {
    const plan = { url, headers, body, connections: 32, seconds };
    const { result, cpuMs } = await metered(pids, () => load.run(plan));
    return { rate: result.requests / result.seconds, cpuMs: cpuMs / result.requests };
  });
  return new Map([...figures].map(([[name], all]) => [name, medians(all)]));
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
  const command = [wrk, '-t1', `-c${plan.connections}`, `-d${Math.ceil(plan.seconds)}s`];
  const child = Bun.spawn(pinned(machine, 'load', [...command, ...options, plan.url]), {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    timeout: plan.seconds * 1000 + 10_000,
  });
  const text = await new Response(child.stdout).text();
  const [, requests, seconds] = /(\d+) requests in ([\d.]+)s/.exec(text) ?? [];
  if (requests === undefined || /Non-2xx|Socket errors/.test(text)) throw new Error(`wrk said:\n${text}`);
  return { requests: Number(requests), seconds: Number(seconds) };
}
