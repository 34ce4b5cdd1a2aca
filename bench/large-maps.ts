import type { Bench } from './bench.ts';
import { measureChangeStreams } from './change-streams.ts';
import { bytes, mebibytes, microseconds, milliseconds, percent, times } from './format.ts';
import { measureReads, startLoadMaker, type Target } from './load.ts';
import { ENVIRONMENT, type FilledNode, flagKey, openFilled, PROJECT } from './node.ts';
import { peakBytes, resetPeak, residentBytes } from './process-figures.ts';
import { ReadProbe } from './reads-wait.ts';
import { answersOf, frameOf, startBareStreams, startNginx } from './references.ts';
import type { Row } from './row.ts';
import type { SubjectStream } from './running.ts';
import { PATIENCE_MS } from './within.ts';
import { Worker } from './worker.ts';
import type { BareRestCommands } from './workers/bare-rest.ts';
import type { ProbeResult } from './workers/requests.ts';
import type { ChangeTimes, StreamReaderCommands } from './workers/stream-reader.ts';

const FLAGS = 10_000;
const EFFORT = { connections: 32, rounds: 5, seconds: 1 };
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
  await using load = await startLoadMaker(machine);
  const answers = await answersOf(node);
  const { all: body, headers } = answers;
  await using bare = await Worker.start<BareRestCommands>(machine, 'bare-rest.ts', 'server');
  const { url } = await bare.ask('serve', { single: '', whole: body, headers });
  await using nginx = machine.nginx ? await startNginx(machine, machine.nginx, answers) : undefined;

  const targets = new Map<string, Target>([
    ['halyard', { pids: node.pids, ...node.requests.all }],
    ['bare Bun.serve', { pids: [bare.pid], url: `${url}/same`, headers: {} }],
  ]);
  if (nginx?.requests?.all)
    targets.set('nginx, the bytes as a file', { pids: nginx.pids, ...nginx.requests.all });
  bench.say(`large-maps: reads of ${FLAGS} flags`);
  const [ours, ...references] = await measureReads(load, targets, EFFORT);
  if (ours === undefined) return [];
  const [, own] = ours;

  return references.map(([name, { cpuMs }], index) => ({
    what: `GET /v1/flags, ${FLAGS} flags, ${bytes(body.length)}: processor time`,
    measured: microseconds(own.cpuMs),
    reference: `${name}: ${microseconds(cpuMs)}`,
    ratio: percent(cpuMs / own.cpuMs),
    ...(index === 0 && { goal: '>= 85 %', isReached: cpuMs / own.cpuMs >= 0.85 }),
  }));
}

/** The first compressed read after a change makes the compressed bytes; other reads must not wait for that. */
async function measureCompressedReads(bench: Bench, node: FilledNode): Promise<Row[]> {
  await using probe = await ReadProbe.start(bench.machine, readBeside(node));
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
    rows.push({
      what: `reads' p99 wait while the first ${encoding} reads of ${FLAGS} flags follow changes`,
      measured: waits(compressed),
      reference: `uncompressed ones: ${waits(plain)}`,
      ratio: times(compressed.p99Ms / plain.p99Ms),
      goal: '<= 10 ms',
      isReached: compressed.p99Ms <= 10,
    });
  }
  return rows;
}

/** Every stream is sent more than the buffers of its connection hold. */
async function measureBurst(bench: Bench, node: FilledNode): Promise<Row[]> {
  const { machine } = bench;
  bench.say(`large-maps: ${BURST} changes at once to ${STREAMS} streams`);
  await using reader = await Worker.start<StreamReaderCommands>(machine, 'stream-reader.ts', 'readers');
  await using probe = await ReadProbe.start(machine, readBeside(node));
  const { result: own, reads } = await probe.during(() => burstOf(reader, node.pid, node.stream));
  await using bare = await startBareStreams(machine, { frame: frameOf(await answersOf(node)) });
  const [pid = 0] = bare.pids;
  const floor = await burstOf(reader, pid, bare.stream);

  const what = `${BURST} changes of ${FLAGS} flags at once to ${STREAMS} streams`;
  const memory = ({ peak, before }: Burst) => `${mebibytes(peak)} (${mebibytes(before)} before)`;
  return [
    {
      what: `${what}, peak memory`,
      measured: memory(own),
      reference: `a loop over bare Bun.serve streams: ${memory(floor)}`,
      ratio: times(own.peak / floor.peak),
      goal: '<= 256 MiB',
      isReached: own.peak <= 256 * 2 ** 20,
    },
    {
      what: `${what}, to the last byte`,
      measured: milliseconds(own.times.lastMs),
      reference: `a loop over bare Bun.serve streams: ${milliseconds(floor.times.lastMs)}`,
      ratio: times(own.times.lastMs / floor.times.lastMs),
    },
    {
      what: "reads' p99 wait while these frames go out",
      measured: waits(reads),
      goal: '<= 20 ms',
      isReached: reads.p99Ms <= 20,
    },
  ];
}

/** What a burst of changes took, and the memory of the server before it and at its highest. */
interface Burst {
  readonly before: number;
  readonly peak: number;
  readonly times: ChangeTimes;
}

async function burstOf(
  reader: Worker<StreamReaderCommands>,
  pid: number,
  stream: SubjectStream | undefined,
): Promise<Burst> {
  if (stream === undefined) throw new Error('there is no stream');
  await reader.ask('open', { url: stream.url, headers: stream.headers, count: STREAMS });
  const before = residentBytes(pid);
  resetPeak(pid);
  const times = await reader.ask('burst', changesOf(stream, BURST));
  const peak = peakBytes(pid);
  await reader.ask('close', null);
  return { before, peak, times };
}

/** A reader that is late by a few frames is slow, not lost: it must get them all. */
async function measureSlowReaders(bench: Bench): Promise<Row[]> {
  bench.say(`large-maps: slow readers of ${HUGE} flags`);
  await using node = await openFilled(bench, HUGE);
  await using reader = await Worker.start<StreamReaderCommands>(bench.machine, 'stream-reader.ts', 'readers');
  const { url, headers } = node.stream;
  await reader.ask('open', { url, headers, count: SLOW_READERS });
  const requests = changesOf(node.stream, SLOW_FRAMES);
  const problem = await reader.ask('burstUnread', { requests, pauseMs: 200 }).then(() => undefined, String);
  return [
    {
      what: `streams of ${HUGE} flags survive ${SLOW_FRAMES} frames that are not read at once`,
      measured: problem === undefined ? `all ${SLOW_READERS}` : problem,
      goal: 'all',
      isReached: problem === undefined,
    },
  ];
}

function changesOf(stream: SubjectStream, count: number) {
  return Array.from({ length: count }, (_, serial) => stream.change(serial));
}

/** A read of a flag that the changes here leave alone. */
function readBeside({ url, headers }: FilledNode) {
  return { url: `${url}/v1/flags/${flagKey(2)}?env=${ENVIRONMENT}`, headers };
}

function waits({ p99Ms, maxMs }: ProbeResult): string {
  return `${milliseconds(p99Ms)} (max ${milliseconds(maxMs)})`;
}
