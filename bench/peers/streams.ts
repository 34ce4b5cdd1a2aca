import type { Bench } from '../bench.ts';
import { bytes, milliseconds, times } from '../format.ts';
import { cpuTimeMs, settledBytes } from '../process-figures.ts';
import { median, percentile } from '../statistics.ts';
import type { Table } from '../table.ts';
import { Worker } from '../worker.ts';
import type { StreamReaderCommands } from '../workers/stream-reader.ts';
import type { PeerFlag } from './flags.ts';
import type { Peer, PeerStream, RunningPeer } from './peer.ts';

const CHANGES = 7;
const SINGLE_CHANGES = 200;
const HEADINGS = [
  'system',
  'memory of a stream',
  'to ours',
  'opened in',
  'a change: first reader',
  'last reader',
  'to ours',
  'CPU of it',
  'one change to one stream, p50 / p99',
  'to ours',
  'what it does',
];

interface Figures {
  readonly peer: Peer;
  readonly version: string;
  readonly bytesPerStream: number;
  readonly openSeconds: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly cpuMs: number;
  readonly single: readonly number[];
}

/** Idle streams, a change to all of them, and changes to one; each peer by itself, ours first. */
export async function measurePeersStreams(
  bench: Bench,
  peers: readonly Peer[],
  flags: readonly PeerFlag[],
  count: number,
): Promise<Table> {
  const figures: Figures[] = [];
  for (const peer of peers) {
    bench.say(`peers: streams of ${peer.name}`);
    try {
      await using running = await peer.start(bench.machine, flags);
      const { stream } = running;
      if (stream !== undefined) figures.push(await measureStream(bench, { peer, running, stream, count }));
    } catch (error) {
      bench.leaveOut(`${peer.name}, streams: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return tableOf(figures);
}

async function measureStream(
  { machine }: Bench,
  parts: {
    readonly peer: Peer;
    readonly running: RunningPeer;
    readonly stream: PeerStream;
    readonly count: number;
  },
): Promise<Figures> {
  const { running, stream, count, peer } = parts;
  const { url, headers, opensWith } = stream;
  await using reader = await Worker.start<StreamReaderCommands>(machine, 'stream-reader.ts', 'readers');

  await reader.ask('open', { url, headers, count: 1, opensWith });
  const single: number[] = [];
  let serial = 0;
  for (let n = 0; n < SINGLE_CHANGES; n++) {
    single.push((await reader.ask('change', stream.change(++serial))).lastMs);
  }
  await reader.ask('close', null);

  const before = await settledBytes(running.pids);
  const openSeconds = await reader.ask('open', { url, headers, count, opensWith });
  const bytesPerStream = ((await settledBytes(running.pids)) - before) / count;

  const changes: { firstMs: number; lastMs: number; cpuMs: number }[] = [];
  for (let n = 0; n <= CHANGES; n++) {
    const cpuBefore = cpuOf(running);
    const measured = await reader.ask('change', stream.change(++serial));
    if (n > 0) changes.push({ ...measured, cpuMs: cpuOf(running) - cpuBefore });
  }

  return {
    peer,
    version: await peer.version(),
    bytesPerStream,
    openSeconds,
    firstMs: median(changes.map(({ firstMs }) => firstMs)),
    lastMs: median(changes.map(({ lastMs }) => lastMs)),
    cpuMs: median(changes.map(({ cpuMs }) => cpuMs)),
    single: single.slice(SINGLE_CHANGES / 10),
  };
}

function cpuOf({ pids }: RunningPeer): number {
  return pids.reduce((sum, pid) => sum + cpuTimeMs(pid), 0);
}

function tableOf(figures: readonly Figures[]): Table {
  const [ours] = figures;
  const ratio = (own: number, other: number | undefined) => (other === undefined ? '' : times(own / other));
  return {
    headings: HEADINGS,
    lines: figures.map((each) => {
      const [p50, p99] = [percentile(each.single, 0.5), percentile(each.single, 0.99)];
      return [
        `${each.peer.name} ${each.version}`,
        bytes(each.bytesPerStream),
        ratio(each.bytesPerStream, ours?.bytesPerStream),
        milliseconds(each.openSeconds * 1000),
        milliseconds(each.firstMs),
        milliseconds(each.lastMs),
        ratio(each.lastMs, ours?.lastMs),
        milliseconds(each.cpuMs),
        `${milliseconds(p50)} / ${milliseconds(p99)}`,
        ratio(p50, ours && percentile(ours.single, 0.5)),
        each.peer.remark,
      ];
    }),
  };
}
