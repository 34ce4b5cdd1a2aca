import type { Bench } from '../bench.ts';
import { bytes, mebibytes, microseconds, milliseconds, percent } from '../format.ts';
import { type FilledNode, openFilled } from '../node.ts';
import { bytesOfEach, idleShare, metered, withPeak } from '../process-figures.ts';
import { type ChangeFigures, meteredChange, middleOf, StreamReaders } from '../readers.ts';
import { ReadProbe } from '../reads-wait.ts';
import { fetchChecked } from '../running.ts';
import type { Dimension, Scale, Size } from './dimension.ts';
import { figure, memory, msFigure } from './measure.ts';

const FLAGS = 26;
const CHANGES = 5;
const BURST = 5;
const IDLE_SECONDS = 5;
/** Files that a process keeps for everything but streams, and room for an uneven share of them. */
const RESERVE = 600;

const STREAMS = [
  { streams: 5_000, workers: 1 },
  { streams: 10_000, workers: 1 },
  { streams: 19_400, workers: 1 },
  { streams: 38_000, workers: 2 },
];
const FRAMES = [
  { streams: 1_000, flags: 1_000 },
  { streams: 10_000, flags: 1_000 },
  { streams: 1_000, flags: 10_000 },
  { streams: 100, flags: 50_000 },
];
const QUICK_STREAMS = 10_000;
const QUICK_FRAMES = 1_000_000;
const STREAMS_REMARK =
  'All processes of a node share one core here, and all readers share one with the reads that wait: with many streams they wait for each other, too.';

/** Open streams: memory, idle work, and a change to all of them; as many as two processes may open. */
export async function measureStreams(scale: Scale): Promise<readonly Dimension[]> {
  const { fileLimit } = scale.machine;
  const sizes: Size[] = [];
  for (const { streams, workers } of STREAMS) {
    if (scale.isQuick && streams > QUICK_STREAMS) continue;
    if (streams / workers + RESERVE > fileLimit) {
      scale.leaveOut(`${streams} streams on ${workers}: a process may open ${fileLimit} files`);
      continue;
    }
    scale.say(`scale: ${streams} streams on ${workers}`);
    sizes.push(await measureStreamsOf(scale, streams, workers));
  }
  return [{ title: `Streams (${FLAGS} flags)`, input: 'Streams', sizes, remark: STREAMS_REMARK }];
}

async function measureStreamsOf(scale: Scale, streams: number, workers: number): Promise<Size> {
  await using side = await openSide(scale, FLAGS, workers);
  const { node, readers, probe } = side;
  const open = () => metered(node.pids, () => readers.open(node.stream, streams));
  const { result: opening, each } = await bytesOfEach(node.pids, streams, open);
  const openingCpu = opening.cpuMs / streams;

  const idle = await idleShare(node.pids, IDLE_SECONDS);
  const changes: ChangeFigures[] = [];
  const { reads } = await probe.during(async () => {
    for (let n = 1; n <= CHANGES; n++) changes.push(await meteredChange(readers, node, n));
  });
  const { lastMs, cpuMs } = middleOf(changes);
  const cpu = cpuMs / streams;
  return {
    input: streams,
    label: `${streams} on ${workers}`,
    figures: {
      // Finding free ports for so many streams takes the readers most of that time, so it is not judged.
      opened: { text: milliseconds(opening.tookMs) },
      'CPU of opening one': figure(microseconds(openingCpu), openingCpu, 0.02),
      'memory of each': figure(bytes(each), each),
      memory: memory(node),
      'idle, of a core': figure(percent(idle), idle, 0.02),
      'a change to the last byte': msFigure(lastMs, 10),
      'CPU of a frame': figure(microseconds(cpu), cpu, 0.005),
      'reads wait': msFigure(reads.maxMs, 10),
    },
  };
}

/** Streams times the size of the map: what one change is to all of them, and five at once. */
export async function measureFrames(scale: Scale): Promise<readonly Dimension[]> {
  const sizes: Size[] = [];
  for (const { streams, flags } of FRAMES) {
    if (scale.isQuick && streams * flags > QUICK_FRAMES) continue;
    scale.say(`scale: ${streams} streams of ${flags} flags`);
    sizes.push(await measureFramesOf(scale, streams, flags));
  }
  const remark = 'The input is what one change sends to all streams together.';
  return [{ title: 'Frames: streams x flags', input: 'MiB of one change', sizes, remark }];
}

async function measureFramesOf(scale: Scale, streams: number, flags: number): Promise<Size> {
  await using side = await openSide(scale, flags, 1);
  const { node, readers, probe } = side;
  await readers.open(node.stream, streams);
  const frame = (await fetchChecked(node.requests.all)).size;
  const { result, before, peak } = await withPeak(node.pid, async () => {
    const one = await probe.during(() => readers.change(node.stream, 1));
    return { one, several: await probe.during(() => readers.change(node.stream, 2, BURST)) };
  });
  const { one, several } = result;
  const total = frame * streams;
  const rate = total / 2 ** 20 / (one.result.lastMs / 1000);
  return {
    input: total / 2 ** 20,
    label: `${streams} x ${flags} (${bytes(frame)}, ${mebibytes(total)})`,
    figures: {
      'first reader': msFigure(one.result.firstMs, 10),
      'last reader': msFigure(one.result.lastMs, 10, { isBytes: true }),
      throughput: { text: `${rate.toFixed(0)} MiB/s` },
      'reads wait': msFigure(one.reads.maxMs, 10),
      [`${BURST} at once`]: msFigure(several.result.lastMs, 10, { isBytes: true }),
      'reads wait then': msFigure(several.reads.maxMs, 10),
      'memory before → peak': figure(`${mebibytes(before)} → ${mebibytes(peak)}`, peak, 0, { isBytes: true }),
    },
  };
}

/** A node with workers, and what opens its streams and reads beside them. */
interface Side extends AsyncDisposable {
  readonly node: FilledNode;
  readonly readers: StreamReaders;
  readonly probe: ReadProbe;
}

async function openSide(bench: Bench, flags: number, workers: number): Promise<Side> {
  const stack = new AsyncDisposableStack();
  const node = stack.use(await openFilled(bench, flags, { env: { HALYARD_WORKERS: String(workers) } }));
  const probe = stack.use(new ReadProbe(bench.machine, node.requests.one));
  const readers = stack.use(new StreamReaders(bench.machine));
  return { node, readers, probe, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
