import { type NodeProcess, startNode } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { changeRequest } from './changes.ts';
import { ENVIRONMENT, type Fixture, fillNode, flagKey } from './fixture.ts';
import { bytes, milliseconds, perSecond, times, verdict } from './format.ts';
import { pin } from './machine.ts';
import { cpuTimeMs, settledBytes } from './process-figures.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { PATIENCE_MS } from './within.ts';
import { Worker } from './worker.ts';
import type { BareStreamsCommands } from './workers/bare-streams.ts';
import type { ProbeCommands, ProbeResult } from './workers/latency-probe.ts';
import type { ChangeRequest, ChangeTimes, StreamReaderCommands } from './workers/stream-reader.ts';

const FLAGS = 26;
const STREAMS = 10_000;
const OPENINGS = 3;
const CHANGES = 9;
const PROBE = { perSecond: 500, seconds: 4 };

/** A server of streams, with the process that reads them. */
interface Side {
  readonly name: 'halyard' | 'bare' | 'sockets';
  readonly pid: number;
  readonly streamUrl: string;
  readonly probeUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A request that makes a frame; each time another one, or nothing would change. */
  readonly nextChange: () => ChangeRequest;
  readonly reader: Worker<StreamReaderCommands>;
}

interface SideFigures {
  readonly openingSeconds: number[];
  readonly bytesPerStream: number;
  readonly changes: ChangeTimes[];
  readonly changeCpuMs: number;
}

/** Ten thousand open streams: what they cost idle, how fast they open, and a change that goes to all of them. */
export async function measureStreams(bench: Bench): Promise<readonly Row[]> {
  const { machine } = bench;
  const count = Math.min(STREAMS, machine.fileLimit - 700);
  if (count < STREAMS)
    bench.leaveOut(`${STREAMS} streams: a process may open ${machine.fileLimit} files, so it were ${count}`);
  const node = await startNode();
  try {
    await pin(machine, node.pid, 'server');
    const fixture = await fillNode(node, FLAGS);
    const frame = await firstFrame(node, fixture);
    await using bare = await Worker.start<BareStreamsCommands>(machine, 'bare-streams.ts', 'server');
    await using sockets = await Worker.start<BareStreamsCommands>(machine, 'bare-sockets.ts', 'server');
    await using readers = await startReaders(bench);
    await using probe = await Worker.start<ProbeCommands>(machine, 'latency-probe.ts', 'load');
    const [own, other, floor] = [
      nodeSide(node, fixture, readers.all[0]),
      await bareSide('bare', bare, frame, readers.all[1]),
      await bareSide('sockets', sockets, frame, readers.all[2]),
    ] as const;
    const figures = await measureSides(bench, [own, other, floor], count);
    const latencies = await probeSides(bench, probe, [own, other]);
    return rowsOf({ count, frame }, figures, latencies);
  } finally {
    await node.stop();
  }
}

async function startReaders(bench: Bench) {
  const start = () => Worker.start<StreamReaderCommands>(bench.machine, 'stream-reader.ts', 'readers');
  const all = [await start(), await start(), await start()] as const;
  return {
    all,
    [Symbol.asyncDispose]: async () => {
      for (const reader of all) await reader[Symbol.asyncDispose]();
    },
  };
}

function nodeSide(node: NodeProcess, fixture: Fixture, reader: Worker<StreamReaderCommands>): Side {
  let serial = 10_000;
  return {
    name: 'halyard',
    pid: node.pid,
    streamUrl: `${node.url}/v1/stream?env=${ENVIRONMENT}`,
    probeUrl: `${node.url}/v1/flags/${flagKey(1)}?env=${ENVIRONMENT}`,
    headers: fixture.headers,
    nextChange: () => changeRequest(node, ++serial),
    reader,
  };
}

async function bareSide(
  name: 'bare' | 'sockets',
  worker: Worker<BareStreamsCommands>,
  frame: string,
  reader: Worker<StreamReaderCommands>,
): Promise<Side> {
  const { url } = await worker.ask('serve', { frame });
  return {
    name,
    pid: worker.pid,
    streamUrl: `${url}/v1/stream`,
    probeUrl: `${url}/v1/flags/x`,
    headers: {},
    nextChange: () => ({ url: `${url}/change`, method: 'POST', headers: {}, body: '' }),
    reader,
  };
}

async function firstFrame(node: NodeProcess, fixture: Fixture): Promise<string> {
  const { headers } = fixture;
  const response = await fetch(`${node.url}/v1/flags?env=${ENVIRONMENT}`, {
    headers,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const body = await response.text();
  return `data: ${body.slice(body.indexOf('"flags":') + 8, -1)}\n\n`;
}

async function measureSides(
  bench: Bench,
  sides: readonly Side[],
  count: number,
): Promise<Map<string, SideFigures>> {
  const figures = new Map<string, SideFigures>();
  for (const side of sides) {
    bench.say(`streams: ${count} on ${side.name}`);
    figures.set(side.name, await measureOpening(side, count));
  }
  for (let opening = 2; opening <= OPENINGS; opening++) {
    bench.say(`streams: opening ${opening} of ${OPENINGS}`);
    for (const side of sides) figures.get(side.name)?.openingSeconds.push(await reopen(side, count));
  }
  bench.say(`streams: ${CHANGES} changes on each`);
  for (let round = 0; round <= CHANGES; round++) {
    for (const side of sides) await measureChange(side, figures, round);
  }
  return figures;
}

/** The very first opening of a process: only here is its memory that of the streams. */
async function measureOpening(side: Side, count: number): Promise<SideFigures> {
  const { streamUrl: url, headers, reader } = side;
  await reader.ask('open', { url, headers, count: 1 });
  await reader.ask('close', null);
  const before = await settledBytes([side.pid]);
  const seconds = await reader.ask('open', { url, headers, count });
  const after = await settledBytes([side.pid]);
  return { openingSeconds: [seconds], bytesPerStream: (after - before) / count, changes: [], changeCpuMs: 0 };
}

async function reopen(side: Side, count: number): Promise<number> {
  await side.reader.ask('close', null);
  // The server notices each end, which is not part of the opening.
  await Bun.sleep(500);
  return await side.reader.ask('open', { url: side.streamUrl, headers: side.headers, count });
}

async function measureChange(side: Side, figures: Map<string, SideFigures>, round: number): Promise<void> {
  const before = cpuTimeMs(side.pid);
  const changeTimes = await side.reader.ask('change', side.nextChange());
  const own = figures.get(side.name);
  // Round 0 warms up.
  if (own === undefined || round === 0) return;
  own.changes.push(changeTimes);
  figures.set(side.name, { ...own, changeCpuMs: own.changeCpuMs + cpuTimeMs(side.pid) - before });
}

/** Reads at a steady pace while one change after the other goes to all streams. */
async function probeSides(
  bench: Bench,
  probe: Worker<ProbeCommands>,
  sides: readonly Side[],
): Promise<Map<string, ProbeResult>> {
  const results = new Map<string, ProbeResult>();
  for (const side of sides) {
    bench.say(`streams: reads on ${side.name} while changes go out`);
    let isOver = false;
    const probing = probe
      .ask('run', { url: side.probeUrl, headers: side.headers, ...PROBE })
      .finally(() => (isOver = true));
    while (!isOver) await side.reader.ask('change', side.nextChange());
    results.set(side.name, await probing);
  }
  return results;
}

function rowsOf(
  { count, frame }: { readonly count: number; readonly frame: string },
  figures: ReadonlyMap<string, SideFigures>,
  latencies: ReadonlyMap<string, ProbeResult>,
): Row[] {
  const [own, bare, floor] = [figures.get('halyard'), figures.get('bare'), figures.get('sockets')];
  const [ownReads, bareReads] = [latencies.get('halyard'), latencies.get('bare')];
  if (!own || !bare || !floor || !ownReads || !bareReads) throw new Error('a side was not measured');

  const rate = (side: SideFigures) => count / median(side.openingSeconds);
  const last = (side: SideFigures) => median(side.changes.map(({ lastMs }) => lastMs));
  const describe = (side: SideFigures) =>
    `${milliseconds(last(side))} (${milliseconds(side.changeCpuMs / side.changes.length)} CPU)`;

  const broadcast = `a change to ${count} streams, ${bytes(frame.length)} frame, to the last byte read`;
  const overBare = last(own) / last(bare);
  return [
    {
      what: `${count} idle streams, memory of each`,
      measured: bytes(own.bytesPerStream),
      reference: `bare Bun.serve streams: ${bytes(bare.bytesPerStream)}`,
      ratio: times(own.bytesPerStream / bare.bytesPerStream),
      goal: '<= 8 KiB',
      verdict: verdict(own.bytesPerStream <= 8192),
    },
    {
      what: `opening ${count} streams`,
      measured: perSecond(rate(own)),
      reference: `bare Bun.serve streams: ${perSecond(rate(bare))}`,
      ratio: times(rate(own) / rate(bare)),
      goal: '>= 10 k/s',
      verdict: verdict(rate(own) >= 10_000),
    },
    {
      what: broadcast,
      measured: describe(own),
      reference: `a loop over bare Bun.serve streams: ${describe(bare)}`,
      ratio: times(overBare),
      goal: '<= 1.30 x',
      verdict: verdict(overBare <= 1.3),
    },
    {
      what: broadcast,
      measured: describe(own),
      reference: `a loop over plain sockets: ${describe(floor)}`,
      ratio: times(last(own) / last(floor)),
      goal: '',
      verdict: '',
    },
    {
      what: `GET /v1/flags/{key} p99 while changes go to ${count} streams`,
      measured: `${milliseconds(ownReads.p99Ms)} (max ${milliseconds(ownReads.maxMs)})`,
      reference: `the same on the bare server: ${milliseconds(bareReads.p99Ms)} (max ${milliseconds(bareReads.maxMs)})`,
      ratio: times(ownReads.p99Ms / bareReads.p99Ms),
      goal: '< 20 ms',
      verdict: verdict(ownReads.p99Ms < 20),
    },
  ];
}
