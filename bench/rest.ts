import { startNode } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { ENVIRONMENT, fillNode, flagKey } from './fixture.ts';
import { bytes, microseconds, percent, perSecond, times, verdict } from './format.ts';
import { type LoadMaker, startLoadMaker } from './load.ts';
import { pin } from './machine.ts';
import { type Nginx, startNginx } from './nginx.ts';
import { cpuTimeMs } from './process-figures.ts';
import type { RepeatedRequest } from './raw-request.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { PATIENCE_MS } from './within.ts';
import { Worker } from './worker.ts';
import type { BareRestCommands } from './workers/bare-rest.ts';

const FLAGS = 1000;
const CONNECTIONS = 32;
const ROUNDS = 5;
const SECONDS = 1;
/** Processor time that one read of a flag, or a 304, may cost. */
const READ_CPU_MS = 0.01;

/** What OpenFeature's providers send: a few facts besides the targeting key. */
const CONTEXT = JSON.stringify({
  context: { targetingKey: 'user-4711', email: 'ada@example.com', plan: 'gold', country: 'DE' },
});

/** Something that answers one and the same request for ever. */
interface Target extends RepeatedRequest {
  readonly pid: number;
  readonly status: 200 | 304;
}

interface Figures {
  readonly rates: number[];
  readonly cpuMs: number[];
}

/** Reads of one flag and of the whole map, against what the runtime and nginx make of the same bytes. */
export async function measureRest(bench: Bench): Promise<readonly Row[]> {
  const { machine } = bench;
  await using load = await startLoadMaker(machine);
  if (!load.outpacesServers) {
    bench.leaveOut('rates of reads as a measure: without wrk, only the processor times can be compared');
  }

  const node = await startNode();
  try {
    await pin(machine, node.pid, 'server');
    const { headers } = await fillNode(node, FLAGS);
    const query = `?env=${ENVIRONMENT}`;

    const single = {
      url: `${node.url}/v1/flags/${flagKey(500)}${query}`,
      headers,
      pid: node.pid,
      status: 200,
    } as const;
    const whole = { ...single, url: `${node.url}/v1/flags${query}` };
    const ofrep = `${node.url}/ofrep/v1/evaluate/flags`;

    const answer = await fetchAnswer(single);
    const wholeAnswer = await fetchAnswer(whole);
    const known = { ...headers, 'If-None-Match': answer.headers.ETag ?? '' };
    await using bare = await Worker.start<BareRestCommands>(machine, 'bare-rest.ts', 'server');
    const bodies = { single: answer.body, whole: wholeAnswer.body };
    const { url } = await bare.ask('serve', { ...bodies, headers: answer.headers });
    const bareTarget = (path: string): Target => ({ ...single, url: `${url}${path}${query}`, pid: bare.pid });

    await using nginx = await startNginxIfThere(bench, bodies);
    const targets = {
      single,
      notModified: { ...single, headers: known, status: 304 } as const,
      bareSame: bareTarget(`/same/${flagKey(500)}`),
      bareBody: bareTarget(`/body/${flagKey(500)}`),
      whole,
      bareWhole: bareTarget('/same'),
      ofrepSingle: { ...single, url: `${ofrep}/${flagKey(500)}`, body: CONTEXT },
      bareRead: { ...bareTarget(`/read/${flagKey(500)}`), body: CONTEXT },
      ofrepBulk: { ...single, url: ofrep, body: CONTEXT },
      nginxConstant: nginx && { ...single, url: `${nginx.url}/constant`, pid: nginx.pid },
      nginxFile: nginx && { ...single, url: `${nginx.url}/file`, pid: nginx.pid },
    };

    return rowsOf(load, await measureAll(bench, load, targets), {
      single: answer.body.length,
      whole: wholeAnswer.body.length,
    });
  } finally {
    await node.stop();
  }
}

async function startNginxIfThere(
  bench: Bench,
  bodies: { readonly single: string; readonly whole: string },
): Promise<Nginx | undefined> {
  const { machine } = bench;
  const { nginx } = machine;
  if (nginx === undefined) {
    bench.leaveOut('the rows against nginx: it is not installed');
    return undefined;
  }
  return await startNginx(
    { ...machine, nginx },
    { constant: bodies.single, file: new TextEncoder().encode(bodies.whole) },
  );
}

/** Every target in turn, several rounds, so that a slow moment of the machine meets all of them. */
async function measureAll<Name extends string>(
  bench: Bench,
  load: LoadMaker,
  targets: Readonly<Record<Name, Target | undefined>>,
): Promise<Map<Name, Figures>> {
  const figures = new Map<Name, Figures>();
  // `entries` forgets which names it was given; they are those of `targets`.
  const entries = (Object.entries(targets) as [Name, Target | undefined][]).flatMap(([name, target]) =>
    target === undefined ? [] : [{ target, own: place(figures, name) }],
  );
  for (const { target } of entries) {
    await checkTarget(target);
    await load.run({ ...target, connections: CONNECTIONS, seconds: SECONDS });
  }
  for (let round = 1; round <= ROUNDS; round++) {
    bench.say(`rest: round ${round} of ${ROUNDS} with ${load.name}`);
    for (const { target, own } of entries) {
      const before = cpuTimeMs(target.pid);
      const { requests, seconds } = await load.run({ ...target, connections: CONNECTIONS, seconds: SECONDS });
      own.rates.push(requests / seconds);
      own.cpuMs.push((cpuTimeMs(target.pid) - before) / requests);
    }
  }
  return figures;
}

function place<Name>(figures: Map<Name, Figures>, name: Name): Figures {
  const own: Figures = { rates: [], cpuMs: [] };
  figures.set(name, own);
  return own;
}

async function checkTarget(target: Target): Promise<void> {
  const { body } = target;
  const { status } = await fetch(target.url, {
    headers: target.headers,
    ...(body !== undefined && { method: 'POST', body }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (status !== target.status)
    throw new Error(`${target.url} answered ${status} instead of ${target.status}`);
}

async function fetchAnswer(target: Target): Promise<{ body: string; headers: Record<string, string> }> {
  const response = await fetch(target.url, {
    headers: { ...target.headers, 'Accept-Encoding': 'identity' },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const headers: Record<string, string> = {};
  // The server adds these two to every answer by itself.
  for (const [name, value] of response.headers) {
    if (name !== 'date' && name !== 'content-length') headers[name === 'etag' ? 'ETag' : name] = value;
  }
  return { body: await response.text(), headers };
}

function rowsOf(
  load: LoadMaker,
  figures: ReadonlyMap<string, Figures>,
  size: { readonly single: number; readonly whole: number },
): Row[] {
  const one = `GET /v1/flags/{key}, ${size.single} B`;
  const all = `GET /v1/flags, ${FLAGS} flags, ${bytes(size.whole)}`;
  const row = (what: string, measured: string, reference: string, name: string, goal?: number): Row[] => {
    const [own, other] = [figures.get(measured), figures.get(reference)];
    return own && other ? [compare(load, what, own, { name, ...other }, goal)] : [];
  };
  return [
    ...cpuRow('GET /v1/flags/{key}', figures.get('single'), figures.get('nginxConstant')),
    ...cpuRow('304 to If-None-Match', figures.get('notModified'), figures.get('nginxConstant')),
    ...row(one, 'single', 'bareSame', 'bare Bun.serve, same headers', 0.85),
    ...row(one, 'single', 'bareBody', 'bare Bun.serve, no headers'),
    ...row(one, 'single', 'nginxConstant', 'nginx return 200', 0.5),
    ...row('304 to If-None-Match', 'notModified', 'single', 'a read of one flag', 1),
    ...row(all, 'whole', 'nginxFile', 'nginx, the bytes as a file', 0.8),
    ...row(all, 'whole', 'bareWhole', 'bare Bun.serve, same headers'),
    ...row('POST /ofrep/v1/evaluate/flags/{key}', 'ofrepSingle', 'single', 'GET /v1/flags/{key}', 0.8),
    ...row(
      'POST /ofrep/v1/evaluate/flags/{key}',
      'ofrepSingle',
      'bareRead',
      'bare Bun.serve that reads the body',
    ),
    ...row(`POST /ofrep/v1/evaluate/flags, ${FLAGS} flags`, 'ofrepBulk', 'whole', 'GET /v1/flags'),
  ];
}

function cpuRow(what: string, own?: Figures, nginx?: Figures): Row[] {
  if (own === undefined) return [];
  const cpu = median(own.cpuMs);
  const reference = nginx && median(nginx.cpuMs);
  return [
    {
      what: `${what}, processor time`,
      measured: microseconds(cpu),
      reference: reference === undefined ? '' : `nginx return 200: ${microseconds(reference)}`,
      ratio: reference === undefined ? '' : times(cpu / reference),
      goal: `<= ${microseconds(READ_CPU_MS)}`,
      verdict: verdict(cpu <= READ_CPU_MS),
    },
  ];
}

/** Where the load cannot outpace the servers, the verdict is that of the processor times. */
function compare(
  load: LoadMaker,
  what: string,
  measured: Figures,
  reference: Figures & { readonly name: string },
  goal?: number,
): Row {
  const rateRatio = median(measured.rates) / median(reference.rates);
  const cpuRatio = median(reference.cpuMs) / median(measured.cpuMs);
  const judged = load.outpacesServers || Number.isNaN(cpuRatio) ? rateRatio : cpuRatio;
  return {
    what,
    measured: describe(measured),
    reference: `${reference.name}: ${describe(reference)}`,
    ratio: `${percent(rateRatio)}${Number.isNaN(cpuRatio) ? '' : ` (CPU ${percent(cpuRatio)})`}`,
    goal: goal === undefined ? '' : `>= ${percent(goal)}`,
    // "As fast as" leaves room for the noise of one run.
    verdict: goal === undefined ? '' : verdict(judged >= (goal === 1 ? 0.97 : goal)),
  };
}

function describe({ rates, cpuMs }: Figures): string {
  const cpu = median(cpuMs);
  return `${perSecond(median(rates))}${Number.isNaN(cpu) ? '' : ` (${microseconds(cpu)} CPU)`}`;
}
