import { type Bench, PATIENCE_MS } from './bench.ts';
import { measureChangeStreams } from './change-streams.ts';
import { bytes, mebibytes, microseconds, milliseconds, percent } from './format.ts';
import { measureReads, startLoadMaker, type Target } from './load.ts';
import { ENVIRONMENT, type FilledNode, flagKey, openFilled, PROJECT } from './node.ts';
import { withPeak } from './process-figures.ts';
import { StreamReaders } from './readers.ts';
import { p99Of, ReadProbe, waits } from './reads-wait.ts';
import { answersOf, frameOf, startBareStreams, startNginx } from './references.ts';
import { type Row, rowOf } from './row.ts';
import type { Streaming } from './running.ts';
import { Worker } from './worker.ts';
import type { BareRestCommands } from './workers/bare-rest.ts';
import type { ProbeResult } from './workers/requests.ts';
import type { StreamReaderCommands } from './workers/stream-reader.ts';

const FLAGS = 10_000;
const EFFORT = { rounds: 5, seconds: 1 };
const COMPRESSED_READS = 40;
const STREAMS = 1_000;
const BURST = 5;
/** A node of this many flags has frames so large that a few do not fit into the buffers of a slow reader's connection. */
const HUGE = 50_000;
const SLOW_READERS = 8;
const SLOW_FRAMES = 3;

/** Environments of ten to fifty thousand flags: reads of the whole map, its compression, and frames to many streams. */
export async function measureLargeMaps(bench: Bench): Promise<readonly Row[]> {
  await using node = await openFilled(bench, FLAGS);
  return [
    ...(await measureWholeReads(bench, node)),
    ...(await measureCompressedReads(bench, node)),
    ...(await measureBurst(bench, node)),
    ...(await measureSlowReaders(bench)),
    ...(await measureChangeStreams(bench)),
  ];
}

/** Most of it is copying the bytes, which the runtime and nginx do as well. */
async function measureWholeReads(bench: Bench, node: FilledNode): Promise<Row[]> {
  const { machine } = bench;
  await using load = startLoadMaker(machine);
  const answers = await answersOf(node);
  await using bare = new Worker<BareRestCommands>(machine, 'bare-rest.ts', 'server');
  const { url } = await bare.ask('serve', answers);
  await using nginx = machine.nginx ? await startNginx(machine, machine.nginx, answers) : undefined;

  const targets = new Map<string, Target>([
    ['halyard', { pids: node.pids, ...node.requests.all }],
    ['bare Bun.serve', { pids: [bare.pid], url: `${url}/same`, headers: {} }],
  ]);
  if (nginx) targets.set('nginx, the bytes as a file', { pids: nginx.pids, ...nginx.requests.all });
  bench.say(`large-maps: reads of ${FLAGS} flags`);
  const [ours, ...references] = await measureReads(load, targets, EFFORT);
  if (ours === undefined) return [];
  const [, own] = ours;

  const what = `GET /v1/flags, ${FLAGS} flags, ${bytes(answers.all.length)}: processor time`;
  return references.map(([name, { cpuMs }], index) =>
    rowOf(what, microseconds, own.cpuMs, {
      beside: [name, cpuMs],
      // As a rate: more is better.
      ratio: (share) => percent(1 / share),
      ...(index === 0 && { goal: { '>= 85 %': cpuMs / own.cpuMs } }),
    }),
  );
}

/** The first compressed read after a change makes the compressed bytes; other reads must not wait for that. */
async function measureCompressedReads(bench: Bench, node: FilledNode): Promise<Row[]> {
  await using probe = new ReadProbe(bench.machine, readBeside(node));
  const readAfterChange = async (encoding: string): Promise<ProbeResult> => {
    const { reads } = await probe.during(async () => {
      for (let n = 0; n < COMPRESSED_READS; n++) {
        const state = { enabled: true, value: `${encoding} ${n}` };
        await node.management.putState(PROJECT, ENVIRONMENT, flagKey(1), state);
        const response = await fetch(node.requests.all.url, {
          headers: { ...node.headers, 'Accept-Encoding': encoding },
          signal: AbortSignal.timeout(PATIENCE_MS),
        });
        await response.arrayBuffer();
      }
    });
    return reads;
  };

  const rows: Row[] = [];
  for (const encoding of ['gzip', 'zstd']) {
    bench.say(`large-maps: the first ${encoding} read after a change`);
    const plain = await readAfterChange('identity');
    const compressed = await readAfterChange(encoding);
    const what = `reads' p99 wait while the first ${encoding} reads of ${FLAGS} flags follow changes`;
    rows.push(
      rowOf(what, waits, compressed, { by: p99Of, beside: ['uncompressed ones', plain], goal: '<= 10 ms' }),
    );
  }
  return rows;
}

/** Every stream is sent more than the buffers of its connection hold. */
async function measureBurst(bench: Bench, node: FilledNode): Promise<Row[]> {
  const { machine } = bench;
  bench.say(`large-maps: ${BURST} changes at once to ${STREAMS} streams`);
  await using readers = new StreamReaders(machine, STREAMS);
  const burst = async ({ pids: [pid = 0], stream }: Pick<Streaming, 'pids' | 'stream'>) => {
    await readers.open(stream, STREAMS);
    const { result, before, peak } = await withPeak(pid, () => readers.change(stream, 0, BURST));
    await readers.close();
    return { before, peak, lastMs: result.lastMs };
  };
  await using probe = new ReadProbe(machine, readBeside(node));
  const { result: own, reads } = await probe.during(() => burst(node));
  await using bare = await startBareStreams(machine, { frame: frameOf(await answersOf(node)) });
  const floor = await burst(bare);

  const what = `${BURST} changes of ${FLAGS} flags at once to ${STREAMS} streams`;
  const reference = 'a loop over bare Bun.serve streams';
  const memory = ({ peak, before }: typeof own) => `${mebibytes(peak)} (${mebibytes(before)} before)`;
  return [
    rowOf(`${what}, peak memory`, memory, own, {
      by: ({ peak }) => peak,
      beside: [reference, floor],
      goal: '<= 256 MiB',
    }),
    rowOf(`${what}, to the last byte`, milliseconds, own.lastMs, { beside: [reference, floor.lastMs] }),
    rowOf("reads' p99 wait while these frames go out", waits, reads, { by: p99Of, goal: '<= 20 ms' }),
  ];
}

/** A reader that is late by a few frames is slow, not lost: it must get them all. */
async function measureSlowReaders(bench: Bench): Promise<Row[]> {
  bench.say(`large-maps: slow readers of ${HUGE} flags`);
  await using node = await openFilled(bench, HUGE);
  await using reader = new Worker<StreamReaderCommands>(bench.machine, 'stream-reader.ts', 'readers');
  const { url, headers, change } = node.stream;
  await reader.ask('open', { url, headers, count: SLOW_READERS });
  const changes = Array.from({ length: SLOW_FRAMES }, (_, serial) => change(serial));
  const problem = await reader.ask('burstUnread', changes).then(() => undefined, String);
  const what = `streams of ${HUGE} flags survive ${SLOW_FRAMES} frames that are not read at once`;
  return [rowOf(what, String, problem ?? `all ${SLOW_READERS}`, { goal: { all: problem === undefined } })];
}

/** A read of a flag that the changes here leave alone. */
function readBeside({ url, headers }: FilledNode) {
  return { url: `${url}/v1/flags/${flagKey(2)}?env=${ENVIRONMENT}`, headers };
}
