import type { Bench } from './bench.ts';
import { bytes, microseconds, percent, perSecond } from './format.ts';
import { type LoadMaker, measureReads, type ReadFigures, startLoadMaker, type Target } from './load.ts';
import { openFilled, requestsOf } from './node.ts';
import { answersOf, startLoop, startNginx } from './references.ts';
import { type Row, rowOf } from './row.ts';
import { fetchChecked } from './running.ts';
import { Worker } from './worker.ts';
import type { BareRestCommands } from './workers/bare-rest.ts';

const FLAGS = 1000;
const EFFORT = { rounds: 5, seconds: 1 };
/** Processor time that one read of a flag, or a 304, may cost. */
const READ_CPU_MS = 0.01;

const ONE = 'GET /v1/flags/{key}';
const NOT_MODIFIED = '304 to If-None-Match';
const ALL = `GET /v1/flags, ${FLAGS} flags`;
const OFREP_ONE = 'POST /ofrep/v1/evaluate/flags/{key}';
const OFREP_ALL = `POST /ofrep/v1/evaluate/flags, ${FLAGS} flags`;
const LOOP = 'a bare loop in C';
const NGINX = 'nginx return 200';
const NGINX_FILE = 'nginx, the bytes as a file';
const SAME = 'bare Bun.serve, same headers';
const BODY = 'bare Bun.serve, no headers';
const SAME_ALL = 'bare Bun.serve, same headers, all flags';
const READS_BODY = 'bare Bun.serve that reads the body';

/** The rows: what is measured, the reference, and what share of its rate is to be reached. */
const COMPARED: readonly (readonly [what: string, reference: string, goal?: number])[] = [
  [ONE, LOOP],
  [ONE, NGINX, 0.5],
  [ONE, SAME, 0.85],
  [ONE, BODY],
  [NOT_MODIFIED, ONE, 1],
  [ALL, `${LOOP}, all flags`],
  [ALL, NGINX_FILE, 0.6],
  [ALL, SAME_ALL],
  [OFREP_ONE, ONE, 0.71],
  [OFREP_ONE, READS_BODY],
  [OFREP_ALL, ALL],
];

/** Reads of one flag and of the whole map, against what the runtime, nginx and the kernel make of the same bytes. */
export async function measureRest(bench: Bench): Promise<readonly Row[]> {
  const { machine } = bench;
  await using load = startLoadMaker(machine);
  if (!load.outpacesServers) {
    bench.leaveOut('rates of reads as a measure: without wrk, only the processor times can be compared');
  }

  await using node = await openFilled(bench, FLAGS);
  const { requests } = requestsOf(node, node.headers, 500);
  const answers = await answersOf({ requests });
  await using bare = new Worker<BareRestCommands>(machine, 'bare-rest.ts', 'server');
  const { url } = await bare.ask('serve', answers);
  await using nginx = machine.nginx ? await startNginx(machine, machine.nginx, answers) : undefined;
  if (nginx === undefined) bench.leaveOut('the rows against nginx: it is not installed');
  await using loop = await startLoop(bench, answers);

  const ours = { pids: node.pids, headers: node.headers };
  const known = { ...node.headers, 'If-None-Match': answers.headers.ETag ?? '' };
  const runtime = { pids: [bare.pid], headers: node.headers };
  const targets = new Map<string, Target>([
    [ONE, { ...ours, ...requests.one }],
    [NOT_MODIFIED, { ...ours, ...requests.one, headers: known }],
    [ALL, { ...ours, ...requests.all }],
    [OFREP_ONE, { ...ours, ...requests.ofrepOne }],
    [OFREP_ALL, { ...ours, ...requests.ofrepAll }],
    [SAME, { ...runtime, url: `${url}/same/x` }],
    [BODY, { ...runtime, url: `${url}/body/x` }],
    [SAME_ALL, { ...runtime, url: `${url}/same` }],
    [READS_BODY, { ...runtime, url: `${url}/read/x`, body: requests.ofrepOne.body ?? '' }],
  ]);
  for (const [side, one, all] of [
    [nginx, NGINX, NGINX_FILE],
    [loop, LOOP, `${LOOP}, all flags`],
  ] as const) {
    if (side?.requests?.one) targets.set(one, { pids: side.pids, ...side.requests.one });
    if (side?.requests?.all) targets.set(all, { pids: side.pids, ...side.requests.all });
  }

  for (const target of targets.values()) await fetchChecked(target);
  bench.say(`rest: ${targets.size} targets in turn with ${load.name}`);
  const figures = await measureReads(load, targets, EFFORT);
  const sizes = new Map([
    [ONE, `, ${answers.one.length} B`],
    [ALL, `, ${bytes(answers.all.length)}`],
  ]);
  return [
    ...[ONE, NOT_MODIFIED].map((what) => cpuRow(what, figures)),
    ...COMPARED.flatMap(([what, reference, goal]) => {
      const [own, other] = [figures.get(what), figures.get(reference)];
      if (own === undefined || other === undefined) return [];
      return [compare(load, `${what}${sizes.get(what) ?? ''}`, own, [reference, other], goal)];
    }),
  ];
}

function cpuRow(what: string, figures: ReadonlyMap<string, ReadFigures>): Row {
  const name = figures.has(LOOP) ? LOOP : NGINX;
  const reference = figures.get(name);
  return rowOf(`${what}, processor time`, microseconds, figures.get(what)?.cpuMs ?? Number.NaN, {
    ...(reference && { beside: [name, reference.cpuMs] }),
    goal: `<= ${microseconds(READ_CPU_MS)}`,
  });
}

/** Where the load cannot outpace the servers, the verdict is that of the processor times. */
function compare(
  load: LoadMaker,
  what: string,
  own: ReadFigures,
  beside: readonly [string, ReadFigures],
  goal: number | undefined,
): Row {
  const [, other] = beside;
  const rateRatio = own.rate / other.rate;
  const cpuRatio = other.cpuMs / own.cpuMs;
  const judged = load.outpacesServers || Number.isNaN(cpuRatio) ? rateRatio : cpuRatio;
  return rowOf(what, describe, own, {
    by: ({ rate }) => rate,
    beside,
    ratio: (share) => `${percent(share)}${Number.isNaN(cpuRatio) ? '' : ` (CPU ${percent(cpuRatio)})`}`,
    // "As fast as" leaves room for the noise of one run.
    ...(goal !== undefined && { goal: { [`>= ${percent(goal)}`]: judged >= (goal === 1 ? 0.97 : goal) } }),
  });
}

function describe({ rate, cpuMs }: ReadFigures): string {
  return `${perSecond(rate)}${Number.isNaN(cpuMs) ? '' : ` (${microseconds(cpuMs)} CPU)`}`;
}
