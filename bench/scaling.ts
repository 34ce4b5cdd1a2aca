import type { Bench } from './bench.ts';
import { bytes, microseconds, percent } from './format.ts';
import { type LoadMaker, startLoadMaker } from './load.ts';
import { ENVIRONMENT, type FilledNode, flagKey, openFilled, PROJECT } from './node.ts';
import { bytesOfEach, cpuTimeMs } from './process-figures.ts';
import { StreamReaders } from './readers.ts';
import { inTurn } from './rounds.ts';
import { type Row, rowOf } from './row.ts';
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
  await using load = startLoadMaker(bench.machine);
  await using one = await openFilled(bench, FLAGS);
  await using several = await openFilled(bench, FLAGS, { env: { HALYARD_WORKERS: String(WORKERS) } });
  return [
    await measureReads(bench, load, one, several),
    await measureChanges(bench, one, several),
    await measureStreams(bench, several),
  ];
}

/** By node, and in it by round and process, the processor time of each of so many pieces of work. */
async function costs(
  nodes: readonly FilledNode[],
  work: (node: FilledNode, round: number) => Promise<number>,
): Promise<readonly (readonly number[])[][]> {
  const rounds = await inTurn(nodes, ROUNDS, async (node, round) => {
    const before = node.pids.map((pid) => cpuTimeMs(pid));
    const count = await work(node, round);
    return node.pids.map((pid, n) => (cpuTimeMs(pid) - (before[n] ?? 0)) / count);
  });
  return [...rounds.values()].map((all) => [...all]);
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
    ...rowOf(`GET /v1/flags/{key} with ${WORKERS} workers on one core, processor time`, microseconds, own, {
      beside: ['one process', other],
      ratio: (share) => `+ ${percent(share - 1)}`,
      goal: { '<= + 18 %': own / other - 1 },
    }),
    measured: `${microseconds(own)}, supervisor included (busiest process ${percent(busiest)})`,
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
  const [own = 0, other = 0] = [together, alone].map((rounds) => median(rounds.map(([first = 0]) => first)));
  const worker = median(together.map(([, ...workers]) => median(workers)));
  return {
    ...rowOf(`a change, processor time of the supervisor of ${WORKERS} workers`, microseconds, own, {
      beside: ['one process', other],
      ratio: () => `+ ${microseconds(own - other)}`,
    }),
    measured: `${microseconds(own)} (each worker ${microseconds(worker)})`,
  };
}

/** Idle streams over all workers: memory of all processes above that before. */
async function measureStreams({ machine, say }: Bench, { pids, stream }: FilledNode): Promise<Row> {
  say(`scaling: ${STREAMS} streams on ${WORKERS} workers`);
  await using readers = new StreamReaders(machine, Math.min(STREAMS_PER_READER, machine.fileLimit - 500));
  await readers.open(stream, 20);
  await readers.close();
  const { each } = await bytesOfEach(pids, STREAMS, () => readers.open(stream, STREAMS));
  const what = `${STREAMS} idle streams over ${WORKERS} workers, memory of each`;
  return rowOf(what, bytes, each, { goal: '<= 8 KiB' });
}
