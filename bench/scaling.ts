import { childrenOf, type NodeProcess, startNode } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { ENVIRONMENT, type Fixture, fillNode, flagKey, PROJECT } from './fixture.ts';
import { bytes, microseconds, percent, times, verdict } from './format.ts';
import { type LoadMaker, startLoadMaker } from './load.ts';
import { pin } from './machine.ts';
import { cpuTimeMs, settledBytes } from './process-figures.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { Worker } from './worker.ts';
import type { StreamReaderCommands } from './workers/stream-reader.ts';

const WORKERS = 2;
const FLAGS = 26;
const CONNECTIONS = 64;
const ROUNDS = 5;
const SECONDS = 1;
const STREAMS = 20_000;
/** Streams that one process of the bench can hold: its ports and files are limited as well. */
const STREAMS_PER_READER = 10_000;
const CHANGES = 500;

/** A node with its processes. */
interface Side {
  readonly node: NodeProcess;
  readonly fixture: Fixture;
  /** The process that stores changes, and after it the workers, if there are any. */
  readonly pids: readonly number[];
}

/** Two workers against one process: reads, streams, and what the supervisor does for each change. */
export async function measureScaling(bench: Bench): Promise<readonly Row[]> {
  const { machine } = bench;
  if (Number.isNaN(cpuTimeMs(process.pid))) {
    bench.leaveOut('workers: the processor times of processes are not known here');
    return [];
  }
  await using load = await startLoadMaker(machine);
  const one = await startSide(bench, '1');
  try {
    const several = await startSide(bench, String(WORKERS));
    try {
      const rows = [
        ...(await measureReads(bench, load, one, several)),
        ...(await measureChanges(bench, one, several)),
      ];
      return [...rows, ...(await measureStreams(bench, several))];
    } finally {
      await several.node.stop();
    }
  } finally {
    await one.node.stop();
  }
}

async function startSide({ machine }: Bench, workers: string): Promise<Side> {
  const node = await startNode({ env: { HALYARD_WORKERS: workers } });
  const pids = [node.pid, ...childrenOf(node.pid)];
  for (const pid of pids) await pin(machine, pid, 'server');
  return { node, fixture: await fillNode(node, FLAGS), pids };
}

/**
 * One core serves all processes here, so that the other can make load. Processes that share nothing use a core each;
 * what one read costs them together says how many reads two cores make.
 */
async function measureReads(bench: Bench, load: LoadMaker, one: Side, several: Side): Promise<Row[]> {
  const cost = { one: [] as number[], several: [] as number[] };
  const shares: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    bench.say(`scaling: reads, round ${round} of ${ROUNDS}`);
    const first = await readCost(load, one);
    const second = await readCost(load, several);
    // Round 0 warms up.
    if (round === 0) continue;
    cost.one.push(first.total);
    cost.several.push(second.total);
    shares.push(Math.max(...second.byProcess) / second.total);
  }
  const [alone, together] = [median(cost.one), median(cost.several)];
  const ratio = (WORKERS * alone) / together;
  return [
    {
      what: `GET /v1/flags/{key} with ${WORKERS} workers on as many cores, by processor time`,
      measured: `${microseconds(together)} CPU for each, supervisor included (busiest process ${percent(median(shares))})`,
      reference: `one process: ${microseconds(alone)} CPU for each`,
      ratio: times(ratio),
      goal: '>= 1.70 x',
      verdict: verdict(ratio >= 1.7),
    },
  ];
}

async function readCost(
  load: LoadMaker,
  { node, fixture, pids }: Side,
): Promise<{ readonly total: number; readonly byProcess: readonly number[] }> {
  const url = `${node.url}/v1/flags/${flagKey(1)}?env=${ENVIRONMENT}`;
  const before = pids.map(cpuTimeMs);
  const { headers } = fixture;
  const { requests } = await load.run({ url, headers, connections: CONNECTIONS, seconds: SECONDS });
  const byProcess = pids.map((pid, index) => (cpuTimeMs(pid) - (before[index] ?? 0)) / requests);
  return { total: byProcess.reduce((sum, each) => sum + each, 0), byProcess };
}

/** Changes without streams: what the log and the reports of workers cost in addition to the change itself. */
async function measureChanges(bench: Bench, one: Side, several: Side): Promise<Row[]> {
  const cost = { one: [] as number[], several: [] as number[], workers: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    bench.say(`scaling: changes, round ${round} of ${ROUNDS}`);
    const [alone = Number.NaN] = await changeCost(one, round);
    const [supervisor = Number.NaN, ...workers] = await changeCost(several, round);
    if (round === 0) continue;
    cost.one.push(alone);
    cost.several.push(supervisor);
    cost.workers.push(median(workers));
  }
  const extra = median(cost.several) - median(cost.one);
  return [
    {
      what: `a change, processor time of the supervisor of ${WORKERS} workers`,
      measured: `${microseconds(median(cost.several))} (each worker ${microseconds(median(cost.workers))})`,
      reference: `one process: ${microseconds(median(cost.one))}`,
      ratio: `+ ${microseconds(extra)}`,
      goal: '',
      verdict: '',
    },
  ];
}

/** Processor time of each process for one change, in milliseconds. */
async function changeCost({ fixture, pids }: Side, round: number): Promise<readonly number[]> {
  const before = pids.map(cpuTimeMs);
  for (let n = 0; n < CHANGES; n++) {
    const state = { enabled: true, value: `change ${round}-${n}` };
    await fixture.management.putState(PROJECT, ENVIRONMENT, flagKey(0), state);
  }
  return pids.map((pid, index) => (cpuTimeMs(pid) - (before[index] ?? 0)) / CHANGES);
}

/** Idle streams over all workers: memory of all processes above that before. */
async function measureStreams(bench: Bench, side: Side): Promise<Row[]> {
  const { machine } = bench;
  const perReader = Math.min(STREAMS_PER_READER, machine.fileLimit - 500);
  const readers = await Promise.all(
    Array.from({ length: Math.ceil(STREAMS / perReader) }, () =>
      Worker.start<StreamReaderCommands>(machine, 'stream-reader.ts', 'readers'),
    ),
  );

  try {
    const url = `${side.node.url}/v1/stream?env=${ENVIRONMENT}`;
    const { headers } = side.fixture;
    await readers[0]?.ask('open', { url, headers, count: 20 });
    await readers[0]?.ask('close', null);

    const before = await settledBytes(side.pids);
    let count = 0;
    for (const reader of readers) {
      bench.say(`scaling: ${perReader} streams on ${WORKERS} workers`);
      await reader.ask('open', { url, headers, count: perReader });
      count += perReader;
    }

    const perStream = ((await settledBytes(side.pids)) - before) / count;
    return [
      {
        what: `${count} idle streams over ${WORKERS} workers, memory of each`,
        measured: bytes(perStream),
        reference: '',
        ratio: '',
        goal: '<= 8 KiB',
        verdict: verdict(perStream <= 8192),
      },
    ];
  } finally {
    for (const reader of readers) await reader[Symbol.asyncDispose]();
  }
}
