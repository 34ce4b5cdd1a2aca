import type { Bench } from './bench.ts';
import { bytes, microseconds, percent } from './format.ts';
import { type LoadMaker, startLoadMaker } from './load.ts';
import { ENVIRONMENT, type FilledNode, flagKey, openFilled, PROJECT } from './node.ts';
import { cpuTimeMs, settledBytes } from './process-figures.ts';
import { StreamReaders } from './readers.ts';
import type { Row } from './row.ts';
import { median, sum } from './statistics.ts';

const WORKERS = 2;
const FLAGS = 26;
const EFFORT = { connections: 64, seconds: 1 };
const ROUNDS = 5;
const STREAMS = 20_000;
/** Streams that one process of the bench can hold: its ports and files are limited as well. */
const STREAMS_PER_READER = 10_000;
const CHANGES = 500;

/**
 * What workers cost beside one process: a read, a change, a stream. All processes share one core here, and the other
 * makes the load, so nothing of this says how many reads two cores make.
 */
export async function measureScaling(bench: Bench): Promise<readonly Row[]> {
  if (Number.isNaN(cpuTimeMs(process.pid))) {
    bench.leaveOut('workers: the processor times of processes are not known here');
    return [];
  }
  await using load = await startLoadMaker(bench.machine);
  await using one = await openFilled(bench, FLAGS);
  await using several = await openFilled(bench, FLAGS, { env: { HALYARD_WORKERS: String(WORKERS) } });
  return [
    await measureReads(bench, load, one, several),
    await measureChanges(bench, one, several),
    await measureStreams(bench, several),
  ];
}

/** By process, the processor time of each of so many pieces of work. Round 0 warms up. */
async function costs(
  nodes: readonly FilledNode[],
  work: (node: FilledNode, round: number) => Promise<number>,
): Promise<number[][][]> {
  const all: number[][][] = nodes.map(() => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, node] of nodes.entries()) {
      const before = node.pids.map((pid) => cpuTimeMs(pid));
      const count = await work(node, round);
      const each = node.pids.map((pid, n) => (cpuTimeMs(pid) - (before[n] ?? 0)) / count);
      if (round > 0) all[index]?.push(each);
    }
  }
  return all;
}

async function measureReads(
  bench: Bench,
  load: LoadMaker,
  one: FilledNode,
  several: FilledNode,
): Promise<Row> {
  bench.say('scaling: reads');
  const [alone = [], together = []] = await costs([one, several], async ({ requests }) => {
    return (await load.run({ ...requests.one, ...EFFORT })).requests;
  });
  const [own, other] = [median(together.map(sum)), median(alone.map(sum))];
  const busiest = median(together.map((each) => Math.max(...each) / sum(each)));
  return {
    what: `GET /v1/flags/{key} with ${WORKERS} workers on one core, processor time`,
    measured: `${microseconds(own)}, supervisor included (busiest process ${percent(busiest)})`,
    reference: `one process: ${microseconds(other)}`,
    ratio: `+ ${percent(own / other - 1)}`,
    goal: '<= + 18 %',
    isReached: own / other <= 1.18,
  };
}

/** Changes without streams: what the log and the reports of workers cost in addition to the change itself. */
async function measureChanges(bench: Bench, one: FilledNode, several: FilledNode): Promise<Row> {
  bench.say('scaling: changes');
  const [alone = [], together = []] = await costs([one, several], async ({ management }, round) => {
    for (let n = 0; n < CHANGES; n++) {
      const state = { enabled: true, value: `change ${round}-${n}` };
      await management.putState(PROJECT, ENVIRONMENT, flagKey(0), state);
    }
    return CHANGES;
  });
  const [own, other] = [together, alone].map((rounds) => median(rounds.map(([first = 0]) => first)));
  const worker = median(together.map(([, ...workers]) => median(workers)));
  return {
    what: `a change, processor time of the supervisor of ${WORKERS} workers`,
    measured: `${microseconds(own ?? 0)} (each worker ${microseconds(worker)})`,
    reference: `one process: ${microseconds(other ?? 0)}`,
    ratio: `+ ${microseconds((own ?? 0) - (other ?? 0))}`,
  };
}

/** Idle streams over all workers: memory of all processes above that before. */
async function measureStreams({ machine, say }: Bench, { pids, stream }: FilledNode): Promise<Row> {
  say(`scaling: ${STREAMS} streams on ${WORKERS} workers`);
  await using readers = new StreamReaders(machine, Math.min(STREAMS_PER_READER, machine.fileLimit - 500));
  await readers.open(stream, 20);
  await readers[Symbol.asyncDispose]();

  const before = await settledBytes(pids);
  await readers.open(stream, STREAMS);
  const perStream = ((await settledBytes(pids)) - before) / STREAMS;
  return {
    what: `${STREAMS} idle streams over ${WORKERS} workers, memory of each`,
    measured: bytes(perStream),
    goal: '<= 8 KiB',
    isReached: perStream <= 8192,
  };
}
