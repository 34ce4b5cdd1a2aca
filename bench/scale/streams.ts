import { childrenOf, type NodeProcess } from '@halyard/testing';
import { changeRequest } from '../changes.ts';
import { ENVIRONMENT, type Fixture, fillNode } from '../fixture.ts';
import { bytes, mebibytes, microseconds, milliseconds, percent } from '../format.ts';
import { pin } from '../machine.ts';
import { cpuTimeMs, peakBytes, resetPeak, residentBytes, settledBytes } from '../process-figures.ts';
import { ReadProbe } from '../reads-wait.ts';
import { median } from '../statistics.ts';
import { Worker } from '../worker.ts';
import type { ChangeTimes, StreamReaderCommands } from '../workers/stream-reader.ts';
import type { Dimension, Figure, Scale, Size } from './dimension.ts';
import { memory, singleRead, startGuarded } from './measure.ts';

const FLAGS = 26;
const CHANGES = 5;
const BURST = 5;
const IDLE_SECONDS = 5;
/** Streams that one reader opens from an address of its own; beyond 6,500, finding a free port takes milliseconds. */
const STREAMS_PER_READER = 5_500;
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
  return [
    {
      title: `Streams (${FLAGS} flags)`,
      input: 'Streams',
      sizes,
      remark:
        'All processes of a node share one core here, and all readers share one with the reads that wait: with many streams they wait for each other, too.',
    },
  ];
}

async function measureStreamsOf(scale: Scale, streams: number, workers: number): Promise<Size> {
  await using side = await openSide(scale, FLAGS, workers);

  const before = await settledBytes(side.pids);
  const opening = performance.now();
  const openingBefore = sum(side.pids.map(cpuTimeMs));
  await side.open(streams);
  const openedMs = performance.now() - opening;
  const openingCpu = (sum(side.pids.map(cpuTimeMs)) - openingBefore) / streams;
  const each = ((await settledBytes(side.pids)) - before) / streams;

  const idle = await idleShare(side.pids);
  const cpuBefore = sum(side.pids.map(cpuTimeMs));
  const { result: lasts, reads } = await side.probe.during(async () => {
    const all: number[] = [];
    for (let n = 0; n < CHANGES; n++) all.push((await side.change(1)).lastMs);
    return all;
  });

  const cpu = (sum(side.pids.map(cpuTimeMs)) - cpuBefore) / CHANGES / streams;
  const last = median(lasts);
  return {
    input: streams,
    label: `${streams} on ${workers}`,
    figures: {
      // Finding free ports for so many streams takes the readers most of that time, so it is not judged.
      opened: { text: milliseconds(openedMs) },
      'CPU of opening one': {
        text: microseconds(openingCpu),
        judged: [{ value: openingCpu, floor: 0.02 }],
      },
      'memory of each': { text: bytes(each), judged: [{ value: each, floor: 0 }] },
      memory: memory(...side.pids),
      'idle, of a core': { text: percent(idle), judged: [{ value: idle, floor: 0.02 }] },
      'a change to the last byte': {
        text: milliseconds(last),
        judged: [{ value: last, floor: 10 }],
      },
      'CPU of a frame': { text: microseconds(cpu), judged: [{ value: cpu, floor: 0.005 }] },
      'reads wait': {
        text: milliseconds(reads.maxMs),
        judged: [{ value: reads.maxMs, floor: 10 }],
      },
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
  return [
    {
      title: 'Frames: streams x flags',
      input: 'MiB of one change',
      sizes,
      remark: 'The input is what one change sends to all streams together.',
    },
  ];
}

async function measureFramesOf(scale: Scale, streams: number, flags: number): Promise<Size> {
  await using side = await openSide(scale, flags, 1);
  await side.open(streams);
  const [pid = 0] = side.pids;
  const before = residentBytes(pid);
  resetPeak(pid);
  const one = await side.probe.during(() => side.change(1));
  const several = await side.probe.during(() => side.change(BURST));
  const peak = peakBytes(pid);
  const total = side.frameBytes * streams;
  const rate = total / 2 ** 20 / (one.result.lastMs / 1000);
  return {
    input: total / 2 ** 20,
    label: `${streams} x ${flags} (${bytes(side.frameBytes)}, ${mebibytes(total)})`,
    figures: {
      'first reader': waitOf(one.result.firstMs),
      'last reader': bytesOf(one.result.lastMs),
      throughput: { text: `${rate.toFixed(0)} MiB/s` },
      'reads wait': waitOf(one.reads.maxMs),
      [`${BURST} at once`]: bytesOf(several.result.lastMs),
      'reads wait then': waitOf(several.reads.maxMs),
      'memory before → peak': {
        text: `${mebibytes(before)} → ${mebibytes(peak)}`,
        judged: [{ value: peak, floor: 0, isBytes: true }],
      },
    },
  };
}

function waitOf(ms: number): Figure {
  return { text: milliseconds(ms), judged: [{ value: ms, floor: 10 }] };
}

function bytesOf(ms: number): Figure {
  return { text: milliseconds(ms), judged: [{ value: ms, floor: 10, isBytes: true }] };
}

/** A node with streams on it. */
interface Side extends AsyncDisposable {
  readonly pids: readonly number[];
  readonly probe: ReadProbe;
  /** Bytes of one frame. */
  readonly frameBytes: number;
  open(streams: number): Promise<void>;
  /** So many changes at once, to the last frame of the last stream. */
  change(count: number): Promise<ChangeTimes>;
}

async function openSide({ machine }: Scale, flags: number, workers: number): Promise<Side> {
  const node = await startGuarded(machine, { env: { HALYARD_WORKERS: String(workers) } });

  const readers: Worker<StreamReaderCommands>[] = [];
  const pids = [node.pid, ...childrenOf(node.pid)];
  for (const pid of pids) await pin(machine, pid, 'server');
  const fixture = await fillNode(node, flags);
  const probe = await ReadProbe.start(machine, singleRead(node, fixture));

  let serial = 0;
  return {
    pids,
    probe,
    frameBytes: await mapBytes(node, fixture),
    open: async (streams) => {
      for (let open = 0; open < streams; open += STREAMS_PER_READER) {
        const reader = await Worker.start<StreamReaderCommands>(machine, 'stream-reader.ts', 'readers');
        readers.push(reader);
        const count = Math.min(STREAMS_PER_READER, streams - open);
        const plan = { url: streamUrl(node), headers: fixture.headers, count };
        // Linux has all of 127.0.0.0/8.
        const from = process.platform === 'linux' && { localAddress: `127.0.0.${readers.length + 1}` };
        await reader.ask('open', { ...plan, ...from });
      }
    },
    change: async (count) => {
      const requests = Array.from({ length: count }, () => changeRequest(node, ++serial));
      // One reader sends the changes, all wait for the frames: the last of them says when it was over.
      const [first, ...others] = readers;
      const waiting = others.map((reader) => reader.ask('await', { count }));
      const times = await first?.ask('burst', requests);
      const all = [...(times === undefined ? [] : [times]), ...(await Promise.all(waiting))];
      return {
        firstMs: Math.min(...all.map(({ firstMs }) => firstMs)),
        lastMs: Math.max(...all.map(({ lastMs }) => lastMs)),
      };
    },
    [Symbol.asyncDispose]: async () => {
      await probe[Symbol.asyncDispose]();
      for (const reader of readers) await reader[Symbol.asyncDispose]();
      await node.stop();
    },
  };
}

async function mapBytes(node: NodeProcess, { headers }: Fixture): Promise<number> {
  const response = await fetch(`${node.url}/v1/flags?env=${ENVIRONMENT}`, { headers });
  return (await response.arrayBuffer()).byteLength;
}

async function idleShare(pids: readonly number[]): Promise<number> {
  const before = sum(pids.map(cpuTimeMs));
  await Bun.sleep(IDLE_SECONDS * 1000);
  return (sum(pids.map(cpuTimeMs)) - before) / (IDLE_SECONDS * 1000);
}

function streamUrl(node: NodeProcess): string {
  return `${node.url}/v1/stream?env=${ENVIRONMENT}`;
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, each) => total + each, 0);
}
